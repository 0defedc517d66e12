// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.olio.calendar;

import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Runs in the caller's transaction, or in one of its own; an exception undoes all of it. */
@InterceptorBinding
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@interface InTransaction {}
