"""What is this process's own is not that of others."""

import subprocess
import sys
from time import monotonic

from leadline.core.busy import Watch

SPIN = "import time\nwhile time.process_time() < {}: pass"  # s of a processor, however busy the machine is


def test_own_work_and_that_of_ended_children_is_not_others() -> None:
    """What a child used that was waited for is `own`; what one uses that still runs is `others`."""
    watch, began = Watch(), monotonic()
    subprocess.run([sys.executable, "-c", SPIN.format(0.3)], check=True)
    assert watch.seen().own * (monotonic() - began) >= 0.3 - 0.02  # two ticks of the kernel
    with subprocess.Popen([sys.executable, "-c", SPIN.format(60)]) as other:
        watch = Watch()
        while not (seen := watch.seen()).others and other.poll() is None:
            pass
        other.kill()
    assert seen.others > 0
