-- SPDX-License-Identifier: Apache-2.0
-- Statistics at once, so that no trial begins with the plans for tables of which nothing is known.

ANALYZE;
