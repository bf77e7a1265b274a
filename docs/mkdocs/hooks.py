"""What the site's menu has only when it is there."""

from pathlib import Path
from typing import Any

TRUST = ("security.md", "reliability.md", "performance.md")


def on_config(config: Any) -> Any:
    """Adds the pages that say what can be relied on, as they come."""
    there = [page for page in TRUST if (Path(config["docs_dir"]) / page).is_file()]
    if there:
        config["nav"].append({"Trust": there})
    return config
