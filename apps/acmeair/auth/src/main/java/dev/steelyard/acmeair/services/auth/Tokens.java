// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.RSAPublicKeySpec;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.Use;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.lang.JoseException;

/** Signs tokens: RS256, good for an hour, with the role {@code user}. */
@Singleton
public class Tokens {

  private static final float MINUTES = 60;
  private static final List<String> GROUPS = List.of("user");

  private final RSAPrivateCrtKey key;
  private final RsaJsonWebKey publicHalf;
  private final String issuer;

  /**
   * @param location a PEM file with an RSA key in PKCS#8, made if it is not there, which all copies
   *     of the service share: {@code ACMEAIR_JWT_PRIVATEKEY_LOCATION}; none: a key of its own,
   *     which is enough for one copy
   * @param issuer the claim {@code iss}: {@code JWT_ISSUER}
   * @throws IllegalStateException if the file holds no key, and cannot be made
   */
  @Inject
  Tokens(
      @ConfigProperty(name = "acmeair.jwt.privatekey.location") Optional<String> location,
      @ConfigProperty(name = "jwt.issuer") String issuer) {
    this.key = location.map(Path::of).map(SigningKey::in).orElseGet(SigningKey::make);
    this.publicHalf = publicHalf(key);
    this.issuer = issuer;
  }

  /** The key is there as the application starts, not at the first login. */
  static void start(@Observes @Initialized(ApplicationScoped.class) Object event, Tokens tokens) {
    // That it is injected is what makes or reads it.
  }

  /** With an id that follows from it: who knows another key by now learns that it is another. */
  private static RsaJsonWebKey publicHalf(RSAPrivateCrtKey key) {
    try {
      RSAPublicKeySpec half = new RSAPublicKeySpec(key.getModulus(), key.getPublicExponent());
      RsaJsonWebKey made =
          new RsaJsonWebKey((RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(half));
      made.setKeyId(made.calculateBase64urlEncodedThumbprint("SHA-256"));
      made.setAlgorithm(AlgorithmIdentifiers.RSA_USING_SHA256);
      made.setUse(Use.SIGNATURE);
      return made;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A new token for a customer. */
  String issue(String customer) {
    JwtClaims claims = new JwtClaims();
    claims.setIssuer(issuer);
    claims.setIssuedAtToNow();
    claims.setExpirationTimeMinutesInTheFuture(MINUTES);
    claims.setGeneratedJwtId();
    claims.setSubject(customer);
    claims.setStringClaim("upn", customer);
    claims.setStringListClaim("groups", GROUPS);

    JsonWebSignature signature = new JsonWebSignature();
    signature.setAlgorithmHeaderValue(AlgorithmIdentifiers.RSA_USING_SHA256);
    signature.setHeader("typ", "JWT");
    signature.setKeyIdHeaderValue(publicHalf.getKeyId());
    signature.setKey(key);
    signature.setPayload(claims.toJson());
    try {
      return signature.getCompactSerialization();
    } catch (JoseException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The public half of the key, as a JSON Web Key. */
  String publicKey() {
    return publicHalf.toJson();
  }
}
