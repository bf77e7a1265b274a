"""Files as they are found in repositories: several languages, tabs and blanks, repetition where code repeats itself."""

from __future__ import annotations

PYTHON = '''\
"""Accounts and what moves between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal


class Overdrawn(Exception):
    """The account has less than was asked for."""


@dataclass
class Account:
    """One account. Amounts are never negative."""

    owner: str
    balance: Decimal = Decimal(0)
    history: list[str] = field(default_factory=list)

    def deposit(self, amount: Decimal) -> None:
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.history.append(f"+{amount}")

    def withdraw(self, amount: Decimal) -> None:
        if amount <= 0:
            raise ValueError("amount must be positive")
        if amount > self.balance:
            raise Overdrawn(f"{self.owner} has only {self.balance}")
        self.balance -= amount
        self.history.append(f"-{amount}")


def transfer(source: Account, target: Account, amount: Decimal) -> None:
    source.withdraw(amount)
    try:
        target.deposit(amount)
    except ValueError:
        source.deposit(amount)
        raise
'''

TYPESCRIPT = """\
import { EventEmitter } from "node:events";

export interface Options {
  readonly retries: number;
  readonly delayMs: number;
  readonly label?: string;
}

const DEFAULTS: Options = { retries: 3, delayMs: 250 };

export class Queue<T> extends EventEmitter {
  private readonly items: T[] = [];
  private running = false;

  constructor(private readonly options: Options = DEFAULTS) {
    super();
  }

  push(item: T): number {
    this.items.push(item);
    this.emit("push", item);
    return this.items.length;
  }

  async drain(work: (item: T) => Promise<void>): Promise<void> {
    if (this.running) {
      return;
    }
    this.running = true;
    try {
      while (this.items.length > 0) {
        const item = this.items.shift() as T;
        for (let attempt = 0; attempt <= this.options.retries; attempt++) {
          try {
            await work(item);
            break;
          } catch (error) {
            if (attempt === this.options.retries) {
              throw error;
            }
          }
        }
      }
    } finally {
      this.running = false;
    }
  }
}
"""

GO = """\
package cache

import (
	"errors"
	"sync"
	"time"
)

// ErrMissing says that there is no such key.
var ErrMissing = errors.New("cache: missing")

type entry struct {
	value   []byte
	expires time.Time
}

// Cache keeps values until they expire.
type Cache struct {
	mu      sync.Mutex
	entries map[string]entry
	now     func() time.Time
}

// Get returns the value of a key.
func (c *Cache) Get(key string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries[key]
	if !ok {
		return nil, ErrMissing
	}
	if c.now().After(found.expires) {
		delete(c.entries, key)
		return nil, ErrMissing
	}
	return found.value, nil
}

// Set keeps a value for a while.
func (c *Cache) Set(key string, value []byte, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = make(map[string]entry)
	}
	c.entries[key] = entry{value: value, expires: c.now().Add(ttl)}
}
"""

RUST = """\
use std::collections::HashMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Number(f64),
    Name(String),
    Symbol(char),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(value) => write!(f, "{value}"),
            Token::Name(name) => write!(f, "{name}"),
            Token::Symbol(symbol) => write!(f, "{symbol}"),
        }
    }
}

pub struct Scope<'a> {
    names: HashMap<String, f64>,
    outer: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    pub fn new(outer: Option<&'a Scope<'a>>) -> Self {
        Scope {
            names: HashMap::new(),
            outer,
        }
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        match self.names.get(name) {
            Some(value) => Some(*value),
            None => self.outer.and_then(|outer| outer.get(name)),
        }
    }

    pub fn set(&mut self, name: &str, value: f64) {
        self.names.insert(name.to_string(), value);
    }
}
"""

C = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL 16

struct buffer {
	char *data;
	size_t length;
	size_t room;
};

static int grow(struct buffer *buffer, size_t wanted)
{
	size_t room = buffer->room ? buffer->room : INITIAL;

	while (room < wanted)
		room *= 2;
	if (room != buffer->room) {
		char *data = realloc(buffer->data, room);
		if (!data)
			return -1;
		buffer->data = data;
		buffer->room = room;
	}
	return 0;
}

int buffer_add(struct buffer *buffer, const char *text)
{
	size_t length = strlen(text);

	if (grow(buffer, buffer->length + length + 1) < 0)
		return -1;
	memcpy(buffer->data + buffer->length, text, length + 1);
	buffer->length += length;
	return 0;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}
"""

JAVA = """\
package org.example.shop;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A basket of articles. */
public final class Basket {
    private final List<Article> articles = new ArrayList<>();
    private Optional<Coupon> coupon = Optional.empty();

    public void add(Article article) {
        if (article == null) {
            throw new IllegalArgumentException("article");
        }
        articles.add(article);
    }

    public void redeem(Coupon coupon) {
        if (coupon == null) {
            throw new IllegalArgumentException("coupon");
        }
        this.coupon = Optional.of(coupon);
    }

    public long total() {
        long sum = 0;
        for (Article article : articles) {
            sum += article.priceInCents();
        }
        return coupon.map(c -> c.apply(sum)).orElse(sum);
    }
}
"""

YAML = """\
name: checks
on:
  push:
    branches: [main]
  pull_request:

jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - run: pip install ruff
      - run: ruff check .
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python: ["3.11", "3.12", "3.13"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python }}
      - run: pip install -e .[dev]
      - run: pytest -q
"""

LUA = """\
local M = {}

local defaults = {
  border = "rounded",
  width = 0.8,
  height = 0.6,
}

---@param opts table|nil
function M.setup(opts)
  M.options = vim.tbl_deep_extend("force", defaults, opts or {})
end

local function size()
  local columns, lines = vim.o.columns, vim.o.lines
  return math.floor(columns * M.options.width), math.floor(lines * M.options.height)
end

function M.open()
  local width, height = size()
  local buffer = vim.api.nvim_create_buf(false, true)
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = "editor",
    border = M.options.border,
    width = width,
    height = height,
    row = math.floor((vim.o.lines - height) / 2),
    col = math.floor((vim.o.columns - width) / 2),
  })
  return buffer, window
end

return M
"""

MARKDOWN = """\
# Tiny queue

A queue that fits in your head.

## Install

```sh
npm install tiny-queue
```

## Use

```ts
const queue = new Queue<string>();
queue.push("a");
await queue.drain(async (item) => console.log(item));
```

- **Small.** One file.
- **Tested.** Every line.
- **Typed.** Of course.

## Licence

MIT
"""

CSS = """\
:root {
  --ink: #222;
  --paper: #fffdf8;
}

body {
  margin: 0;
  color: var(--ink);
  background: var(--paper);
}

.card {
  padding: 1rem;
  border: 1px solid currentColor;
  border-radius: 4px;
}

.card > h2 {
  margin: 0 0 0.5rem;
  font-size: 1.25rem;
}

@media (max-width: 40rem) {
  .card {
    padding: 0.5rem;
  }
}
"""

SOURCES = {
    "accounts.py": PYTHON,
    "queue.ts": TYPESCRIPT,
    "cache.go": GO,
    "scope.rs": RUST,
    "buffer.c": C,
    "Basket.java": JAVA,
    "checks.yml": YAML,
    "window.lua": LUA,
    "README.md": MARKDOWN,
    "site.css": CSS,
}
