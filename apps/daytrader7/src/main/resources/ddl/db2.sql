-- SPDX-License-Identifier: Apache-2.0
-- What Db2 is told of the tables besides; partitions, buffer pools and table spaces of their own are what a database's
-- administrator adds. Not run on Db2 yet.

-- Rows come and go: the optimiser must not trust what it counted, and inserts need not look for gaps.
ALTER TABLE ACCOUNTEJB VOLATILE CARDINALITY;
ALTER TABLE ACCOUNTPROFILEEJB VOLATILE CARDINALITY;
ALTER TABLE QUOTEEJB VOLATILE CARDINALITY;
ALTER TABLE HOLDINGEJB VOLATILE CARDINALITY;
ALTER TABLE ORDEREJB VOLATILE CARDINALITY;
ALTER TABLE KEYGENEJB VOLATILE CARDINALITY;
ALTER TABLE HOLDINGEJB APPEND ON;
ALTER TABLE ORDEREJB APPEND ON;
