// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.acmeair.services.auth;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Base64;
import java.util.List;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.jose4j.jwk.RsaJsonWebKey;
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
  private final String issuer;

  /**
   * @param location a PEM file with an RSA key in PKCS#8: {@code ACMEAIR_JWT_PRIVATEKEY_LOCATION}
   * @param issuer the claim {@code iss}: {@code JWT_ISSUER}
   * @throws IllegalStateException if there is no such key
   */
  @Inject
  Tokens(
      @ConfigProperty(name = "acmeair.jwt.privatekey.location") String location,
      @ConfigProperty(name = "jwt.issuer") String issuer) {
    this.key = read(Path.of(location));
    this.issuer = issuer;
  }

  /** The key is read as the application starts, not at the first login. */
  static void start(@Observes @Initialized(ApplicationScoped.class) Object event, Tokens tokens) {
    // That it is injected is what reads it.
  }

  private static RSAPrivateCrtKey read(Path file) {
    try {
      String base64 = Files.readString(file).replaceAll("-----[A-Z ]+-----|\\s", "");
      return (RSAPrivateCrtKey)
          KeyFactory.getInstance("RSA")
              .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64)));
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IllegalStateException(
          "%s holds no key to sign with: set ACMEAIR_JWT_PRIVATEKEY_LOCATION to a PEM file with an RSA key in PKCS#8."
              .formatted(file),
          e);
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
    try {
      BigInteger modulus = key.getModulus();
      RSAPublicKeySpec publicHalf = new RSAPublicKeySpec(modulus, key.getPublicExponent());
      RSAPublicKey publicKey =
          (RSAPublicKey) KeyFactory.getInstance("RSA").generatePublic(publicHalf);
      return new RsaJsonWebKey(publicKey).toJson();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
