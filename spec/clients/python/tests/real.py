"""What tests with the real program begin with."""

import os
import unittest

REAL = os.environ.get("SBXRUN_REAL")


@unittest.skipUnless(REAL, "SBXRUN_REAL names no sbxrun")
class Real(unittest.TestCase):
    def setUp(self):
        old = os.environ.get("SBXRUN")
        os.environ["SBXRUN"] = REAL
        self.addCleanup(lambda: os.environ.pop("SBXRUN") if old is None else os.environ.__setitem__("SBXRUN", old))
