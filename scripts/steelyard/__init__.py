# SPDX-License-Identifier: Apache-2.0
"""Steelyard: weighs one way of running a Java server against another, and says how sure it is."""

__version__ = "0.1.0"
