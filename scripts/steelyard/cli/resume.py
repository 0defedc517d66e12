# SPDX-License-Identifier: Apache-2.0
"""`resume`: one way to go on, whatever a directory holds: an experiment, a gate or a noise certificate's session."""

from steelyard.cli import options
from steelyard.cli.certify import resume_certification
from steelyard.cli.console import open_console
from steelyard.cli.gate import resume_gate
from steelyard.cli.options import JsonOption, SessionArgument
from steelyard.cli.run import resume_run
from steelyard.cli.telemetry import LiveOutputs, find_receiver
from steelyard.engines.kubernetes.cluster import NAMESPACE
from steelyard.results.store import SessionDirectory
from steelyard.session.runtimes import ClusterTarget


def resume(
    directory: SessionArgument,
    metrics_port: options.MetricsPortOption = None,
    otlp_endpoint: options.OtlpOption = None,
    context: options.ContextOption = None,
    namespace: options.NamespaceOption = NAMESPACE,
    trust: options.TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Go on with a session that was interrupted, with its own schedule and specs: an experiment's, a gate's or one of
    `certify`, to its verdict or certificate."""
    find_receiver(otlp_endpoint, {})
    begun, target = SessionDirectory(directory), ClusterTarget(context, namespace)
    console = open_console(stderr=True)
    session = begun.session()
    if session.gate is not None:
        resume_gate(begun, target, console, as_json, trust)
    elif session.certificate is not None:
        resume_certification(begun, target, console, as_json, trust)
    else:
        outputs = LiveOutputs(metrics_port, otlp_endpoint)
        resume_run(begun, target, console, as_json, outputs, trust=trust)
