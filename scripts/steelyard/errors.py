# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can act on, and the exit codes that tell them apart.

Every error here carries one sentence that says what happened and what to do. Anything else that escapes is
a defect of the harness and shows a traceback.
"""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command (documented in docs/commands.md)."""

    OK = 0
    REGRESSION = 1  # gate: a regression; test and selfcheck: something failed
    USAGE = 2  # wrong command line; gate: inconclusive
    ENVIRONMENT = 3  # something is missing on this host, or the harness failed
    BAD_INPUT = 4  # experiment file, factor, level or setting refused
    PORT_IN_USE = 5
    BUSY = 6  # another session, or a workload that is up, would disturb this one
    SERVER_FAILED = 7  # a server or an injector did not start
    NO_SPACE = 8  # results cannot be written
    INCOMPLETE = 9  # the session ended with blocks in which some arm has nothing to compare
    NEWER_FORMAT = 10  # the session directory was written by a newer version
    BUILD_FAILED = 11
    INTERRUPTED = 130


class SteelyardError(Exception):
    """Base: one sentence for the user, and the exit code of the command."""

    exit_code = Exit.ENVIRONMENT

    def __init_subclass__(cls, exit_code: Exit = Exit.ENVIRONMENT) -> None:
        cls.exit_code = exit_code


class BadInput(SteelyardError, exit_code=Exit.BAD_INPUT):
    """The experiment, a factor, a level or an option was refused."""


class MissingRequirement(SteelyardError):
    """The host lacks something; the sentence names the command that installs it."""


class PortInUse(SteelyardError, exit_code=Exit.PORT_IN_USE):
    """A port that a server needs is taken."""


class Busy(SteelyardError, exit_code=Exit.BUSY):
    """Another session or workload runs on this host."""


class ServerFailed(SteelyardError, exit_code=Exit.SERVER_FAILED):
    """A server or an injector died or did not become ready."""


class NoSpace(SteelyardError, exit_code=Exit.NO_SPACE):
    """Results could not be written (disk full, no permission)."""


class NewerFormat(SteelyardError, exit_code=Exit.NEWER_FORMAT):
    """A session directory from a newer version of Steelyard."""


class BuildFailed(SteelyardError, exit_code=Exit.BUILD_FAILED):
    """Maven could not build the Java parts."""
