// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import dev.steelyard.olio.entities.Address;
import dev.steelyard.olio.entities.Person;
import dev.steelyard.olio.entities.SocialEvent;
import java.time.LocalDateTime;
import java.util.SortedSet;

/** What people send, checked. */
public final class Forms {

  private Forms() {}

  /** An address, without its place on earth. */
  public record AddressForm(
      String street1, String street2, String city, String state, String zip, String country) {

    void copyTo(Address address, Place place) {
      address.setStreet1(street1);
      address.setStreet2(street2);
      address.setCity(city);
      address.setState(state);
      address.setZip(zip);
      address.setCountry(country);
      address.setLatitude(place.latitude());
      address.setLongitude(place.longitude());
    }
  }

  /** A person. */
  public record PersonForm(
      String userName,
      String password,
      String firstName,
      String lastName,
      String email,
      String telephone,
      String summary,
      String timezone,
      AddressForm address) {

    void copyTo(Person person) {
      person.setPassword(password);
      person.setFirstName(firstName);
      person.setLastName(lastName);
      person.setEmail(email);
      person.setTelephone(telephone);
      person.setSummary(summary);
      person.setTimezone(timezone);
    }
  }

  /** An event; its tags are in small letters, each once. */
  public record EventForm(
      String title,
      String summary,
      String description,
      String telephone,
      LocalDateTime time,
      SortedSet<String> tags,
      AddressForm address) {

    void copyTo(SocialEvent event) {
      event.setTitle(title);
      event.setSummary(summary);
      event.setDescription(description);
      event.setTelephone(telephone);
    }
  }

  /** Names of stored files; null for one that was not sent. */
  public record StoredFiles(String image, String thumbnail, String literature) {}

  /** Where an address is, in degrees. */
  public record Place(double latitude, double longitude) {

    /** Where it is not known. */
    public static final Place UNKNOWN = new Place(0, 0);
  }
}
