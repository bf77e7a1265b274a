local context = require("agent_lsp.prompt.context")
local mentions = require("agent_lsp.prompt.mentions")

local api = vim.api

local LINES = { "one 🙂 two", "", "ünïcödé x", "\tfour", "e\u{301}nd" }

local function buffer(lines)
  vim.cmd("enew")
  api.nvim_buf_set_lines(0, 0, -1, false, lines or LINES)
  vim.bo.modified = false
  return api.nvim_get_current_buf()
end

--- Types keys; in the visual mode that they leave on, what is selected.
local function selected(keys)
  vim.cmd("normal! \27gg0")
  local got
  vim.keymap.set("x", "Q", function()
    got = context.visual()
  end, { buffer = 0 })
  api.nvim_feedkeys(api.nvim_replace_termcodes(keys .. "Q<Esc>", true, false, true), "xt", false)
  return got
end

--- What Neovim itself yanks for the same keys.
local function yanked(keys)
  vim.cmd("normal! \27gg0")
  api.nvim_feedkeys(api.nvim_replace_termcodes(keys .. "y<Esc>", true, false, true), "xt", false)
  return vim.fn.getreg('"')
end

local function equal(got, expected)
  assert(vim.deep_equal(got, expected), ("got:\n%s\nexpected:\n%s"):format(vim.inspect(got), vim.inspect(expected)))
end

return {
  ["a selection is what a yank of it would be: v, V and <C-v>, forward and backward, multibyte"] = function()
    buffer()
    for _, keys in ipairs({
      "v",
      "vl",
      "wvw",
      "4lv",
      "4lvh",
      "vG$",
      "Gv4k",
      "jjlvll",
      "jjw<C-v>",
      "V",
      "VG",
      "GVgg",
      "jV",
      "2jv$",
      "Gv",
      "Gvl",
      "G$v0",
      "3jvl",
    }) do
      local text = selected(keys).text
      local yank = yanked(keys)
      equal({ keys, text }, { keys, (yank:gsub("\n$", "")) })
    end
  end,

  ["a block is its columns alone, each line on its own"] = function()
    buffer({ "abcdef", "ghijkl", "mn" })
    local chosen = selected("l<C-v>jl")
    equal(chosen.text, "bc\nhi")
    equal(chosen.type, "b")
    equal(selected("l<C-v>jjl").text, "bc\nhi\nn")
  end,

  ["an empty line can be selected, in every mode"] = function()
    buffer()
    for _, keys in ipairs({ "jv", "jV", "j<C-v>" }) do
      local chosen = selected(keys)
      equal({ chosen.text, #chosen.pieces, chosen.pieces[1].row }, { "", 1, 1 })
    end
  end,

  ["what was selected last is the same after visual mode has ended"] = function()
    local buf = buffer()
    for _, keys in ipairs({ "wvw", "VG", "jjlvll" }) do
      local text = selected(keys).text
      equal(context.last_visual(buf).text, text)
    end
  end,

  ["an operator takes exactly its motion"] = function()
    buffer()
    local got
    _G.taken = function(motion)
      got = context.operated(motion)
    end
    vim.o.operatorfunc = "v:lua.taken"
    vim.cmd("normal! gg0")
    for keys, text in pairs({
      ["g@w"] = "one ",
      ["wg@l"] = "🙂",
      ["g@j"] = "one 🙂 two\n",
      ["g@g@"] = "one 🙂 two",
    }) do
      vim.cmd("normal! gg0")
      api.nvim_feedkeys(keys, "xt", false)
      equal({ keys, got.text }, { keys, text })
    end
    _G.taken = nil
  end,

  ["lines are whole lines"] = function()
    local buf = buffer()
    equal(context.lines(buf, 2, 3).text, "\nünïcödé x")
  end,

  ["without a server a selection goes as text, with its place"] = function()
    local buf = buffer()
    local part = context.selection_part(context.lines(buf, 1, 1))
    equal(part, { type = "text", text = "[attached selection: [No Name]:1-1]\none 🙂 two" })
  end,

  ["mentioned files become resources, others stay words"] = function()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder .. "/a b", "p")
    vim.fn.writefile({ "x" }, folder .. "/x.lua")
    vim.fn.writefile({ "x" }, folder .. "/a b/ü.md")
    local input, problems = mentions.input("look at @x.lua, @a\\ b/ü.md and @nothing; mail me@x.lua", folder)
    equal(problems, {})
    equal(input, {
      { type = "resource", uri = vim.uri_from_fname(folder .. "/x.lua") },
      { type = "resource", uri = vim.uri_from_fname(folder .. "/a b/ü.md") },
      { type = "text", text = "look at @x.lua, @a\\ b/ü.md and @nothing; mail me@x.lua" },
    })
    equal({ mentions.input("plain @nobody", folder) }, { "plain @nobody", {} })
  end,

  ["a pasted path of an image becomes an attachment"] = function()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder, "p")
    local file = assert(io.open(folder .. "/sho t.png", "wb"))
    file:write("\137PNG")
    file:close()
    for _, text in ipairs({ folder .. "/sho\\ t.png", "see file://" .. folder .. "/sho\\ t.png" }) do
      local input = mentions.input(text, folder)
      equal(input[1], { type = "image", data = "data:image/png;base64," .. vim.base64.encode("\137PNG") })
    end
    equal(mentions.input("no.png", folder), "no.png")
  end,

  ["@quickfix and @diagnostics are lists of places, or a word that there are none"] = function()
    local buf = buffer()
    vim.fn.setqflist({})
    local _, problems = mentions.input("fix @quickfix", "/")
    equal(problems, { "@quickfix: there is nothing of that" })
    vim.fn.setqflist({ { bufnr = buf, lnum = 3, text = "wrong" } })
    local input = mentions.input("fix @quickfix", "/")
    assert(input[1].text:find(":3: wrong", 1, true), vim.inspect(input))
    local namespace = api.nvim_create_namespace("test")
    vim.diagnostic.set(namespace, buf, { { lnum = 1, col = 0, message = "bad\nthing", severity = 1 } })
    local part = context.diagnostics_part(buf)
    assert(part and part.text:find(":2: error: bad thing", 1, true), vim.inspect(part))
  end,
}
