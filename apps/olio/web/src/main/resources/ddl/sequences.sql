-- SPDX-License-Identifier: Apache-2.0
-- Keys of new rows, far above those that are loaded. It is made once and goes on after another load: the JVMs that use this
-- database have blocks of fifty keys in hand.

CREATE SEQUENCE ROW_KEYS AS INTEGER START WITH 10000050 INCREMENT BY 50;
