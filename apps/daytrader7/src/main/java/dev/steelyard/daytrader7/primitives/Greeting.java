// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.primitives;

import jakarta.annotation.Priority;
import jakarta.decorator.Decorator;
import jakarta.decorator.Delegate;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InterceptorBinding;
import jakarta.interceptor.InvocationContext;
import java.io.Serializable;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What {@code PingServletCDI} calls: a bean, with a decorator and an interceptor around it. */
public interface Greeting {

  /** A text that each part has added to. */
  String hello();

  /** Marks what the interceptor is to be around. */
  @InterceptorBinding
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.TYPE, ElementType.METHOD})
  @interface Noted {}

  /** The bean. */
  @RequestScoped
  class Plain implements Greeting {

    @Override
    @Noted
    public String hello() {
      return "hello from the bean";
    }
  }

  /** The decorator. */
  @Decorator
  @Priority(Interceptor.Priority.APPLICATION)
  abstract class Decorated implements Greeting, Serializable {

    private static final long serialVersionUID = 1L;

    @Inject @Delegate private transient Greeting delegate;

    @Override
    public String hello() {
      return delegate.hello() + ", from the decorator";
    }
  }

  /** The interceptor. */
  @Noted
  @Interceptor
  @Priority(Interceptor.Priority.APPLICATION)
  class NotedInterceptor implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Adds to what the call answers. */
    @AroundInvoke
    public Object around(InvocationContext call) throws Exception {
      return call.proceed() + ", and from the interceptor";
    }
  }
}
