# SPDX-License-Identifier: Apache-2.0
"""Base of every record of a session directory."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Frozen, documented by attribute docstrings; unknown fields of the same format version are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)
