// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import dev.steelyard.olio.Settings;
import dev.steelyard.olio.Stats;
import dev.steelyard.olio.calendar.Forms.AddressForm;
import dev.steelyard.olio.calendar.Forms.Place;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Asks the geocoder where an address is. Whatever goes wrong there, the operation goes on with an
 * unknown place; failures are counted, and the first, tenth, hundredth of them are logged.
 */
@ApplicationScoped
public class GeocoderClient {

  private static final Logger LOG = Logger.getLogger(GeocoderClient.class.getName());
  private static final String APPLICATION = "olio";

  private final XMLInputFactory parsers = XMLInputFactory.newInstance();
  private final AtomicLong failures = new AtomicLong();

  @Inject private Settings settings;
  @Inject private Stats stats;

  public GeocoderClient() {
    parsers.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    parsers.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
  }

  /** The place of an address. */
  public Place locate(AddressForm address) {
    stats.add(Stats.Count.GEOCODER_CALLS);
    String query =
        "/geocode?appid="
            + APPLICATION
            + "&street="
            + encoded((address.street1() + " " + address.street2()).strip())
            + "&city="
            + encoded(address.city())
            + "&state="
            + encoded(address.state())
            + "&zip="
            + encoded(address.zip());
    try {
      return place(query);
    } catch (IOException | XMLStreamException | RuntimeException e) {
      stats.add(Stats.Count.GEOCODER_FAILURES);
      long count = failures.incrementAndGet();
      if (Long.toString(count).matches("10*")) {
        LOG.log(Level.WARNING, "Failure {0} of the geocoder: {1}", new Object[] {count, e});
      }
      return Place.UNKNOWN;
    }
  }

  /** Whether it answers. */
  public boolean ready() {
    try {
      HttpURLConnection connection = open("/health/ready");
      try (InputStream in = connection.getInputStream()) {
        in.readAllBytes();
      }
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  private HttpURLConnection open(String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create(settings.geocoder() + path).toURL().openConnection();
    connection.setConnectTimeout(settings.connectMillis());
    connection.setReadTimeout(settings.readMillis());
    return connection;
  }

  private Place place(String query) throws IOException, XMLStreamException {
    try (InputStream in = open(query).getInputStream()) {
      // Read to its end, so that the connection is kept.
      return first(parsers.createXMLStreamReader(new ByteArrayInputStream(in.readAllBytes())));
    }
  }

  /** The place of the first result. */
  private static Place first(XMLStreamReader answer) throws XMLStreamException {
    Map<String, String> found = new HashMap<>();
    while (answer.hasNext()) {
      if (answer.next() == XMLStreamConstants.START_ELEMENT) {
        String name = answer.getLocalName().toLowerCase(Locale.ROOT);
        if (name.equals("latitude") || name.equals("longitude")) {
          found.putIfAbsent(name, answer.getElementText());
        }
      }
    }
    return new Place(
        Double.parseDouble(found.get("latitude")), Double.parseDouble(found.get("longitude")));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.ISO_8859_1);
  }
}
