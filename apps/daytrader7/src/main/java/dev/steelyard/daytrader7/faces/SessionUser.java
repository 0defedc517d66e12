// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.faces;

import dev.steelyard.daytrader7.entities.AccountProfile;
import jakarta.enterprise.context.SessionScoped;
import java.io.Serializable;

/**
 * What a session of the Faces pages remembers: the profile of its user, and the symbols shown last.
 */
@SessionScoped
public class SessionUser implements Serializable {

  private static final long serialVersionUID = 1L;

  private AccountProfile profile;
  private String symbols = "s:0,s:1,s:2,s:3,s:4";

  AccountProfile profile() {
    return profile;
  }

  void profile(AccountProfile newProfile) {
    profile = newProfile;
  }

  String symbols() {
    return symbols;
  }

  void symbols(String newSymbols) {
    symbols = newSymbols;
  }
}
