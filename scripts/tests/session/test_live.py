# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from steelyard.session.live import LiveRate

HEAD = "epoch,process,operation,requests,errors,service_s\n"


def test_throughput_is_the_sum_over_servers_between_whole_samples(tmp_path: Path) -> None:
    path = tmp_path / "counters.csv"
    live = LiveRate(path)
    assert live.read() is None
    path.write_text(HEAD + "100.0,a,ping,0,0,0\n100.0,b,ping,0,0,0\n101.0,a,ping,50,0,0\n", encoding="utf-8")
    assert live.read() is None  # the sample at 101 is not whole yet
    with path.open("a", encoding="utf-8") as file:
        file.write("101.0,b,ping,70,0,0\n103.0,a,pi")
        file.flush()
        assert live.read() is None
        file.write("ng,100,0,0\n103.0,b,ping,140,0,0\n103.0,b,internal-miles,9,0,0\n104.0,a,ping,100,0,0\n")
        file.flush()
        assert live.read() == 60.0  # (240 - 120) requests in 2 s
