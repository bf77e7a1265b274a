RED = "#f00"
GREEN = "#0f0"
BLUE = "#00f"
