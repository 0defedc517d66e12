// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.data;

import dev.steelyard.bench.database.Invariant;
import java.util.List;

/** What must hold in the tables whatever was done to them. */
public final class OlioInvariants {

  /** All of them; foreign keys are the database's to keep. */
  public static final List<Invariant> ALL =
      List.of(
          Invariant.of(
              "each tag counts the events that have it",
              "SELECT COUNT(*) FROM SOCIALEVENTTAG T WHERE T.REFCOUNT <> (SELECT COUNT(*) FROM"
                  + " SOCIALEVENTTAG_SOCIALEVENT L WHERE L.SOCIALEVENTTAGID = T.SOCIALEVENTTAGID)"),
          Invariant.of(
              "each event has an address, files and a submitter who is registered",
              "SELECT COUNT(*) FROM SOCIALEVENT E WHERE E.ADDRESS_ADDRESSID IS NULL OR E.IMAGEURL IS"
                  + " NULL OR E.IMAGETHUMBURL IS NULL OR NOT EXISTS (SELECT 1 FROM PERSON P WHERE"
                  + " P.USERNAME = E.SUBMITTERUSERNAME)"),
          Invariant.of(
              "each person has an address and files",
              "SELECT COUNT(*) FROM PERSON P WHERE P.ADDRESS_ADDRESSID IS NULL OR P.IMAGEURL IS NULL"
                  + " OR P.IMAGETHUMBURL IS NULL"),
          Invariant.of(
              "nobody has two comments on an event that were written here",
              "SELECT COUNT(*) FROM (SELECT C.USERNAME_USERNAME FROM COMMENTS_RATING C WHERE"
                  + " C.COMMENTSID > 10000000 GROUP BY C.USERNAME_USERNAME,"
                  + " C.SOCIALEVENT_SOCIALEVENTID HAVING COUNT(*) > 1) D"),
          Invariant.of(
              "nobody is invited twice by the same person",
              "SELECT COUNT(*) FROM (SELECT I.CANDIDATE_USERNAME FROM INVITATION I WHERE"
                  + " I.INVITATIONID > 10000000 GROUP BY I.CANDIDATE_USERNAME,"
                  + " I.REQUESTOR_USERNAME HAVING COUNT(*) > 1) D"),
          // Where a server asked in vain the place is 0, 0. The counts of the servers would tell
          // the same, but each only of itself.
          Invariant.of(
              "the geocoder told the place of each address that was added",
              "SELECT COUNT(*) FROM ADDRESS A WHERE A.ADDRESSID > 10000000 AND A.LATITUDE = 0 AND"
                  + " A.LONGITUDE = 0 AND (EXISTS (SELECT 1 FROM PERSON P WHERE"
                  + " P.ADDRESS_ADDRESSID = A.ADDRESSID) OR EXISTS (SELECT 1 FROM SOCIALEVENT E"
                  + " WHERE E.ADDRESS_ADDRESSID = A.ADDRESSID))"),
          Invariant.of(
              "nobody is his own friend, or invited by himself",
              "SELECT COUNT(*) FROM PERSON P WHERE EXISTS (SELECT 1 FROM PERSON_PERSON F WHERE"
                  + " F.PERSON_USERID = P.USERID AND F.FRIENDS_USERID = P.USERID) OR EXISTS (SELECT 1"
                  + " FROM INVITATION I WHERE I.REQUESTOR_USERNAME = P.USERNAME AND"
                  + " I.CANDIDATE_USERNAME = P.USERNAME)"));

  private OlioInvariants() {}
}
