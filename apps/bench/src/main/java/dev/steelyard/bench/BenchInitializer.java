// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.bench;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletContainerInitializer;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import java.util.EnumSet;
import java.util.ServiceLoader;
import java.util.Set;

/** Adds the filter and the resources to the application that holds this module. */
public final class BenchInitializer implements ServletContainerInitializer {

  private static final String BENCH = "/bench";
  private static final String HEALTH = "/health";

  /**
   * @throws IllegalStateException if the application names no {@link Workload}
   */
  @Override
  public void onStartup(Set<Class<?>> classes, ServletContext context) {
    Workload workload =
        ServiceLoader.load(Workload.class, context.getClassLoader())
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "The application names no workload: add META-INF/services/"
                            + Workload.class.getName()));
    OperationCounters counters = new OperationCounters(workload.operations());
    OperationCounters messages = new OperationCounters(workload.messages());
    Work.into(counters, messages);

    FilterRegistration.Dynamic filter =
        context.addFilter(
            "bench-counting", new CountingFilter(workload, counters, Set.of(BENCH, HEALTH)));
    filter.setAsyncSupported(true);
    filter.addMappingForUrlPatterns(EnumSet.of(DispatcherType.REQUEST), false, "/*");

    BuildInfo build = BuildInfo.read();
    JvmFacts jvm = JvmFacts.current();
    addServlet(context, BENCH, new BenchServlet(workload, counters, messages, build, jvm));
    // At start, so that a server which is not whole ends before anybody asks for its health.
    addServlet(context, HEALTH, new HealthServlet(workload)).setLoadOnStartup(1);
    // Standard output, not the log of the container: of that one, servers show only warnings on the
    // console, where people look. One string: Liberty logs each part that is printed as a line.
    System.out.println(
        "Steelyard %s %s, build %s: %s"
            .formatted(workload.name(), workload.version(), build.fingerprint(), jvm.line()));
  }

  private static ServletRegistration.Dynamic addServlet(
      ServletContext context, String path, Servlet servlet) {
    ServletRegistration.Dynamic registration =
        context.addServlet(servlet.getClass().getSimpleName(), servlet);
    registration.addMapping(path + "/*");
    return registration;
  }
}
