# SPDX-License-Identifier: Apache-2.0
"""`./steelyard test`: the project's own tests and checkers."""
