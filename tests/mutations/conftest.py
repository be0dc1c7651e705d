"""Go and Rust programs are built as the acceptance tests build them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "acceptance"))
