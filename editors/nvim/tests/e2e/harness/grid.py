"""What an attached UI shows: cells and their highlights, kept from Neovim's redraw events."""

import threading
from dataclasses import dataclass, field

BLANK = (" ", 0)


@dataclass(frozen=True)
class Look:
    """How a cell is drawn: colours as 0xRRGGBB, and the names of groups if Neovim tells them."""

    foreground: int | None = None
    background: int | None = None
    bold: bool = False
    italic: bool = False
    reverse: bool = False
    strikethrough: bool = False
    groups: tuple[str, ...] = ()


@dataclass
class Grid:
    """`changed` is notified whenever the screen is whole again; `flushes` counts how often that was."""

    width: int
    height: int
    flushes: int = 0
    cursor: tuple[int, int] = (0, 0)
    mode: str = "normal"
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self):
        self._cells = [[BLANK] * self.width for _ in range(self.height)]
        self._shown = [list(row) for row in self._cells]
        self._looks: dict[int, Look] = {0: Look()}

    # --- what is seen ---

    @property
    def text(self):
        """The whole screen, a line each, without blanks at the end."""
        with self.changed:
            return "\n".join(self._line(row) for row in range(len(self._shown)))

    def line(self, row):
        """One line of it; row 0 is the uppermost."""
        with self.changed:
            return self._line(row)

    def look(self, word):
        """How the first cell of the first occurrence of a word is drawn."""
        with self.changed:
            for row in self._shown:
                line = [cell for cell in row if cell[0]]
                at = "".join(text[0] for text, _ in line).find(word)
                if at >= 0:
                    return self._looks[line[at][1]]
        raise AssertionError(f"{word!r} is not on the screen:\n{self.text}")

    def painted(self):
        """The screen with escape sequences for its colours, for somebody to look at."""
        with self.changed:
            return "\n".join("".join(self._paint(cell) for cell in row) + "\x1b[0m" for row in self._shown)

    def _line(self, row):
        return "".join(text for text, _ in self._shown[row]).rstrip()

    def _paint(self, cell):
        text, id = cell
        look = self._looks.get(id, Look())
        codes = ["0"]
        codes += ["1"] if look.bold else []
        codes += ["3"] if look.italic else []
        codes += ["7"] if look.reverse else []
        for number, colour in ((38, look.foreground), (48, look.background)):
            if colour is not None:
                codes.append(f"{number};2;{colour >> 16};{colour >> 8 & 255};{colour & 255}")
        return f"\x1b[{';'.join(codes)}m{text}"

    # --- what is drawn ---

    def redraw(self, batch):
        """Takes the events of one redraw notification."""
        for name, *calls in batch:
            draw = getattr(self, f"_on_{name}", None)
            if draw:
                for call in calls:
                    draw(*call)

    def _on_flush(self):
        with self.changed:
            self._shown = [list(row) for row in self._cells]
            self.flushes += 1
            self.changed.notify_all()

    def _on_grid_line(self, _, row, column, cells, *__):
        id = 0
        for cell in cells:
            text = cell[0]
            id = cell[1] if len(cell) > 1 else id
            count = cell[2] if len(cell) > 2 else 1
            for _ in range(count):
                self._cells[row][column] = (text, id)
                column += 1

    def _on_grid_clear(self, _):
        self._cells = [[BLANK] * self.width for _ in range(self.height)]

    def _on_grid_resize(self, _, width, height):
        self.width, self.height = width, height
        self._on_grid_clear(_)

    def _on_grid_cursor_goto(self, _, row, column):
        self.cursor = (row, column)

    def _on_grid_scroll(self, _, top, bottom, left, right, rows, __):
        source = [list(row) for row in self._cells]
        for row in range(top, bottom):
            if top <= row + rows < bottom:
                self._cells[row][left:right] = source[row + rows][left:right]

    def _on_mode_change(self, mode, _):
        self.mode = mode

    def _on_hl_attr_define(self, id, rgb, _, info):
        self._looks[id] = Look(
            rgb.get("foreground"),
            rgb.get("background"),
            rgb.get("bold", False),
            rgb.get("italic", False),
            rgb.get("reverse", False),
            rgb.get("strikethrough", False),
            tuple(one["hi_name"] for one in info if one.get("hi_name")),
        )
