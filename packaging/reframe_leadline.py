"""A ReFrame test that watches a system with Leadline: one more run of a plan, judged against its baseline.

reframe -c packaging/reframe_leadline.py -r -S plan=latency -S history=/data/watch
"""

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class LeadlineWatch(rfm.RunOnlyRegressionTest):
    """Fails where a point became slower, drifts, or failed; Leadline decides, by intervals over runs."""

    descr = "Watch a machine with Leadline"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    local = True  # Leadline starts the ranks itself; without it ReFrame would put a launcher before it
    executable = "leadline"
    plan = variable(str, value="quick")
    history = variable(str, value="watch")
    options = variable(str, value="")

    @run_before("run")
    def ask(self):
        """The command line."""
        self.executable_opts = ["watch", self.plan, "--history", self.history, *self.options.split()]

    @sanity_function
    def nothing_became_worse(self):
        """The exit code is Leadline's verdict; the sentence that names the newest run must be there."""
        return sn.all(
            [
                sn.assert_eq(self.job.exitcode, 0, "leadline watch ended with {0}: see the output"),
                sn.assert_found(r"run-\d+ .*(is run \d+ of a baseline|against)", self.stdout),
            ]
        )
