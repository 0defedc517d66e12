-- SPDX-License-Identifier: Apache-2.0
-- Statistics at once, of the tables that have indexes other than of their keys: without them Derby reads all orders for one user's.
-- It gathers none by itself here (jvm.options, derby.yaml).

CALL SYSCS_UTIL.SYSCS_UPDATE_STATISTICS(CURRENT SCHEMA, 'ACCOUNTEJB', NULL);
CALL SYSCS_UTIL.SYSCS_UPDATE_STATISTICS(CURRENT SCHEMA, 'HOLDINGEJB', NULL);
CALL SYSCS_UTIL.SYSCS_UPDATE_STATISTICS(CURRENT SCHEMA, 'ORDEREJB', NULL);
