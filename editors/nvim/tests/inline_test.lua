--- Suggestions in a real Neovim that is driven by keys, with a server that suggests what the test says.

local inline = require("inline_support")
local support = require("support")

local T = {}

--- Suggests the rest of a text, from the cursor on, for as long as the line agrees with it.
---@param whole string A line with the cursor of the first request at `|`, and more lines.
---@return string
local function rest_of(whole)
  local text, start = whole:gsub("|", "", 1), whole:find("|", 1, true) - 1
  return ([[function(params)
    local whole, start = %q, %d
    local cursor = vim.api.nvim_win_get_cursor(0)
    local before = vim.api.nvim_get_current_line():sub(1, cursor[2])
    if cursor[2] >= start and vim.startswith(whole, before) and #before < #whole then
      return { { whole:sub(#before + 1) } }
    end
    return "There is nothing."
  end]]):format(text, start)
end

---@param child Child
---@return string[]
local function shown(child)
  return child:lua("return _G.shown()")
end

---@param child Child
---@return string[]
local function text(child)
  return child:lua("return _G.text()")
end

---@param child Child
---@return string[]
local function events(child)
  return child:lua("return _G.events()")
end

---@param child Child
---@return integer
local function requests(child)
  return child:lua("return #_G.asked('inline_complete')")
end

---@param child Child
---@return boolean
local function visible(child)
  return child:lua("return require('azimuth.inline').visible()")
end

-- Showing -----------------------------------------------------------------------------------------------------------

function T.what_is_typed_of_a_suggestion_needs_no_request_and_what_differs_hides_it()
  local child = inline.start({ "local x = " }, { suggest = rest_of("local x = |foo(bar)") })
  inline.wait(child)
  support.equal(shown(child), { "local x = foo(bar)" })
  support.equal(child:lua("return vim.fn.wincol()"), 11, "the cursor is before what is suggested")
  local before = requests(child)
  for _, key in ipairs({ "f", "o", "o", "(" }) do
    inline.type(child, key)
    support.equal(shown(child), { "local x = foo(bar)" })
    assert(visible(child))
  end
  support.equal(text(child), { "local x = foo(" })
  support.equal(requests(child), before)
  inline.type(child, "x")
  support.equal(shown(child), { "local x = foo(x" })
  support.equal(visible(child), false)
  inline.type(child, "<BS>")
  support.equal(shown(child), { "local x = foo(bar)" })
  inline.type(child, "<BS><BS>")
  support.equal(shown(child), { "local x = foo(bar)" })
  support.equal(events(child), { "s1 shown" })
  inline.type(child, "<Esc>")
  support.equal(shown(child), { "local x = fo" })
  support.equal(events(child), { "s1 shown", "s1 ignored" })
  child:stop()
end

function T.lines_are_followed_over_their_ends_and_the_cursors_line_does_not_move()
  local child = inline.start({ "if x then", "end" }, {
    cursor = { 1, 9 },
    before = "vim.o.autoindent = true vim.cmd('filetype indent off')",
    suggest = [[function() return { { "\n\tprint(1)\n\tprint(2)" } } end]],
  })
  child:type("<Right>")
  inline.wait(child)
  support.equal(shown(child), { "if x then", "        print(1)", "        print(2)", "end" })
  local row = child:lua("return vim.fn.winline()")
  inline.type(child, "<CR>")
  support.equal(shown(child), { "if x then", "        print(1)", "        print(2)", "end" })
  inline.type(child, "<Tab>")
  support.equal(shown(child), { "if x then", "        print(1)", "        print(2)", "end" })
  support.equal(text(child), { "if x then", "\t", "end" })
  support.equal(child:lua("return vim.fn.winline()"), row + 1)
  -- Tab indents if the suggestion begins with an indentation, and accepts what follows it.
  inline.type(child, "<Tab>")
  support.equal(text(child), { "if x then", "\tprint(1)", "\tprint(2)", "end" })
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)"), { 3, 9 })
  support.equal(requests(child) >= 2, true)
  child:stop()
end

function T.brackets_behind_the_cursor_are_shown_once_and_replaced()
  local child = inline.start({ "print()" }, {
    cursor = { 1, 6 },
    suggest = [[function(params) return { { "'日本', x) or y", 6, 7 } } end]],
  })
  inline.wait(child)
  support.equal(shown(child), { "print('日本', x) or y" })
  inline.type(child, "<M-Right>")
  support.equal(text(child), { "print('" .. ")" })
  support.equal(shown(child), { "print('日本', x) or y" })
  inline.type(child, "<Tab>")
  support.equal(text(child), { "print('日本', x) or y" })
  support.equal(child:lua("return vim.fn.col('.')"), #"print('日本', x) or y" + 1)
  child:stop()
end

function T.what_would_move_to_another_line_is_shown_there()
  local child = inline.start({ "call(function() end)" }, {
    cursor = { 1, 15 },
    suggest = [[function() return { { "\n  return 1\n", 15, 15 } } end]],
  })
  inline.wait(child)
  support.equal(shown(child), { "call(function()", "  return 1", " end)" })
  inline.type(child, "<Tab>")
  support.equal(text(child), { "call(function()", "  return 1", " end)" })
  support.equal(shown(child), { "call(function()", "  return 1", " end)" })
  child:stop()
end

function T.a_bracket_that_moves_to_the_last_line_is_not_shown_in_the_first()
  local child = inline.start({ "call({})" }, {
    cursor = { 1, 6 },
    suggest = [[function() return { { "\n  日 = 1,\n})", 6, 8 } } end]],
  })
  inline.wait(child)
  support.equal(shown(child), { "call({", "  日 = 1,", "})" })
  inline.type(child, "<Tab>")
  support.equal(text(child), { "call({", "  日 = 1,", "})" })
  child:stop()
end

function T.wide_characters_tabs_and_long_lines_are_where_they_will_be()
  local child = inline.start({ "日本\t= " }, {
    columns = 30,
    before = "vim.o.tabstop = 8 vim.o.expandtab = false",
    suggest = [[function(params)
      return params.textDocument.version < 5 and { { "語\tx\n\t日本語日本語日本語日本語\nz" } } or {}
    end]],
  })
  inline.wait(child)
  support.equal(shown(child), { "日本    = 語    x", "        日本語日本語日本語日本", "語", "z" })
  inline.type(child, "<Tab>")
  support.equal(text(child), { "日本\t= 語\tx", "\t日本語日本語日本語日本語", "z" })
  support.equal(shown(child), { "日本    = 語    x", "        日本語日本語日本語日本", "語", "z" })
  child:stop()
end

function T.lines_scroll_to_the_side_with_the_text()
  local child = inline.start({ ("x"):rep(40) .. " = " }, {
    columns = 30,
    before = "vim.o.wrap = false vim.o.sidescroll = 1",
    suggest = [[function() return { { "1\n" .. ("日"):rep(20) .. "ab" } } end]],
  })
  inline.wait(child)
  local row = shown(child)[2]
  local skipped = child:lua("return vim.fn.winsaveview().leftcol")
  assert(skipped > 10, "the window has scrolled")
  local line = ("日"):rep(20) .. "ab"
  local rest = (skipped % 2 == 1 and " " or "") .. line:sub(math.ceil(skipped / 2) * 3 + 1)
  -- Neovim shows half of a wide character in its own way.
  support.equal(row:gsub("^[<>%s]", ""), (rest:gsub("^[<>%s]", "")))
  child:stop()
end

function T.lines_below_the_window_are_counted_and_nothing_scrolls()
  local lines = {}
  for at = 1, 30 do
    table.insert(lines, "line " .. at)
  end
  local child = inline.start(lines, { lines = 14, suggest = [[function() return { { " a\nb\nc\nd" } } end]] })
  inline.wait(child)
  local rows = shown(child)
  support.equal(rows[#rows], "line 30 a … 3 more lines")
  support.equal(rows[1], "line 19")
  child:stop()
end

function T.conceal_virtual_edit_and_hints_at_the_lines_end_do_no_harm()
  local child = inline.start({ "call |hidden| x" }, {
    before = [[vim.o.conceallevel = 2 vim.o.concealcursor = "i"]],
    suggest = [[function() return { { " = 1" } } end]],
  })
  inline.wait(child)
  child:lua([[vim.fn.matchadd("Conceal", "|hidden|")]])
  child:lua([[vim.api.nvim_buf_set_extmark(0, vim.api.nvim_create_namespace("hint"), 0, 15, { virt_text = { { ": hint" } }, virt_text_pos = "inline" })]])
  support.equal(shown(child), { "call  x = 1: hint" })
  -- Where there is no text, nothing is suggested.
  child:lua("vim.o.virtualedit = 'all'")
  inline.type(child, "<Right><Right>")
  support.equal(shown(child), { "call  x: hint" })
  child:stop()
end

function T.a_longer_suggestion_takes_the_place_of_a_shown_one_and_another_does_not()
  local child = inline.start({ "x = " }, { suggest = [[function() return { { "abc" } } end]] })
  inline.wait(child)
  local take = [[
    local held, suggestions = require("azimuth.inline.held"), require("azimuth.inline.suggestion")
    local text = ...
    local at = { start = { line = 0, character = 4 }, ["end"] = { line = 0, character = 4 } }
    local one = suggestions.new({ id = "late", text = text, range = at, version = 1 }, { lines = { "x = " }, col = 4 }, function(_, c) return c end)
    held.take_over(vim.api.nvim_get_current_buf(), 0, { one }, false)
  ]]
  child:lua(take, "xyz")
  support.equal(shown(child), { "x = abc" })
  child:lua(take, "abcdef")
  support.equal(shown(child), { "x = abcdef" })
  support.equal(events(child), { "s1 shown", "s1 replaced", "late shown" })
  child:stop()
end

function T.only_a_sign_is_shown_until_the_text_is_asked_for()
  local child = inline.start({ "x = " }, {
    setup = "{ inline = { display = 'sign' } }",
    before = "vim.o.signcolumn = 'yes'",
    suggest = rest_of("x = |abc"),
  })
  child:wait("vim.fn.screenstring(1, 1) == '»' or vim.cmd.redraw()")
  support.equal(shown(child), { "x =" })
  support.equal(events(child), {})
  inline.type(child, "<Tab>")
  support.equal(text(child), { "x = \t" })
  inline.type(child, "<BS>")
  support.equal(shown(child), { "x =" })
  inline.type(child, "<M-Up>")
  support.equal(shown(child), { "x = abc" })
  inline.type(child, "<Tab>")
  support.equal(text(child), { "x = abc" })
  child:stop()
end

-- Accepting ---------------------------------------------------------------------------------------------------------

function T.accepting_is_one_undo_step_and_the_next_suggestion_is_asked_for_at_once()
  local child = inline.start({ "" }, { suggest = rest_of("x = |abc") })
  inline.type(child, "x = ")
  inline.wait(child)
  inline.type(child, "<Tab>")
  support.equal(text(child), { "x = abc" })
  support.equal(events(child), { "s1 shown", "s1 accepted" })
  local order = child:lua([[
    local names = {}
    for _, one in ipairs(_G.heard) do
      local name = one[1]:match("[^/]+$")
      if name == "feedback" then name = one[2].event end
      table.insert(names, name)
    end
    return vim.list_slice(names, #names - 2, #names)
  ]])
  support.equal(order, { "didChange", "accepted", "complete" })
  inline.type(child, "yz<Esc>")
  support.equal(text(child), { "x = abcyz" })
  inline.type(child, "u")
  support.equal(text(child), { "x = abc" })
  inline.type(child, "u")
  support.equal(text(child), { "x = " })
  inline.type(child, "<C-r>")
  support.equal(text(child), { "x = abc" })
  child:stop()
end

function T.words_and_lines_are_accepted_one_by_one_and_counted_in_utf16()
  local child = inline.start({ "x = " }, { suggest = rest_of("x = |größe(🙂, 1)\nend") })
  inline.wait(child)
  inline.type(child, "<M-Right>")
  support.equal(text(child), { "x = größe" })
  inline.type(child, "<M-Right><M-Right>")
  support.equal(text(child), { "x = größe(🙂" })
  support.equal(shown(child), { "x = größe(🙂, 1)", "end" })
  inline.type(child, "<M-Down>")
  support.equal(text(child), { "x = größe(🙂, 1)" })
  support.equal(shown(child), { "x = größe(🙂, 1)", "end" })
  inline.type(child, "<M-Down>")
  support.equal(text(child), { "x = größe(🙂, 1)", "end" })
  support.equal(events(child), { "s1 shown", "s1 partly 5", "s1 partly 6", "s1 partly 8", "s1 partly 12", "s1 accepted" })
  child:stop()
end

function T.what_was_typed_just_before_accepting_is_not_doubled()
  local child = inline.start({ "x = " }, { suggest = rest_of("x = |abc") })
  inline.wait(child)
  -- In one go: nothing has been drawn after `a`.
  inline.type(child, "ab<Tab>")
  support.equal(text(child), { "x = abc" })
  child:stop()
end

function T.a_key_that_disagrees_just_before_tab_makes_it_an_ordinary_tab()
  local child = inline.start({ "x = " }, { before = "vim.o.expandtab = false", suggest = rest_of("x = |abc") })
  inline.wait(child)
  inline.type(child, "q<Tab>")
  support.equal(text(child), { "x = q\t" })
  child:stop()
end

function T.brackets_that_a_plugin_closes_do_not_end_it()
  local child = inline.start({ "x = " }, {
    before = [[vim.keymap.set("i", "(", "()<Left>") vim.keymap.set("i", ")", function()
      return vim.api.nvim_get_current_line():sub(vim.fn.col("."), vim.fn.col(".")) == ")" and "<Right>" or ")"
    end, { expr = true })]],
    suggest = rest_of("x = |foo(bar) + 1"),
  })
  inline.wait(child)
  inline.type(child, "foo")
  inline.type(child, "(")
  support.equal(text(child), { "x = foo()" })
  support.equal(shown(child), { "x = foo(bar) + 1" })
  inline.type(child, "bar")
  inline.type(child, ")")
  support.equal(text(child), { "x = foo(bar)" })
  support.equal(shown(child), { "x = foo(bar) + 1" })
  inline.type(child, "<BS><BS>")
  inline.type(child, "<Tab>")
  support.equal(text(child), { "x = foo(bar) + 1" })
  child:stop()
end

function T.it_can_be_accepted_from_an_expression_mapping()
  local child = inline.start({ "x = " }, {
    before = [[vim.keymap.set("i", "<C-l>", function()
      return require("azimuth.inline").accept() and "" or "no"
    end, { expr = true })]],
    suggest = rest_of("x = |abc"),
  })
  inline.wait(child)
  inline.type(child, "<C-l>")
  support.equal(text(child), { "x = abc" })
  inline.type(child, "<C-l>")
  support.equal(text(child), { "x = abcno" })
  child:stop()
end

-- Keys --------------------------------------------------------------------------------------------------------------

function T.tab_is_what_it_was_while_nothing_is_shown()
  for what, map in pairs({
    lua = [[vim.keymap.set("i", "<Tab>", function() vim.api.nvim_put({ "T" }, "c", false, true) end, { buffer = B })]],
    expr = [[vim.keymap.set("i", "<Tab>", function() return "T" end, { expr = true, buffer = B })]],
    script = [[vim.cmd("inoremap <silent> <Tab> T")]],
    remapped = [[vim.keymap.set("i", "<Plug>(T)", "T") vim.keymap.set("i", "<Tab>", "<Plug>(T)", { buffer = B })]],
    snr = [[vim.cmd("function! s:T()\nreturn 'T'\nendfunction\ninoremap <buffer> <expr> <Tab> <SID>T()")]],
  }) do
    local file = vim.fn.tempname() .. ".vim"
    if what == "snr" then
      support.write(file, "function! s:T()\n  return 'T'\nendfunction\ninoremap <buffer> <expr> <Tab> <SID>T()\n")
      map = ("vim.cmd.source(%q)"):format(file)
    end
    for _, buffer in ipairs(map:find("B", 1, true) and { "nil", "0" } or { "nil" }) do
      local child = inline.start({ "x = " }, { suggest = rest_of("x = |abc") })
      child:lua((map:gsub("buffer = B", "buffer = " .. buffer)))
      local name = what .. " " .. buffer
      inline.type(child, "q")
      local before = child:lua("return vim.inspect(vim.fn.maparg('<Tab>', 'i', false, true))")
      inline.type(child, "<Tab><BS><BS>")
      inline.wait(child)
      inline.type(child, "<Tab>")
      support.equal(text(child), { "x = abc" }, name)
      inline.type(child, "<Tab>")
      support.equal(text(child), { "x = abcT" }, name)
      inline.type(child, "<BS><BS>")
      inline.wait(child)
      inline.type(child, "q<Tab>")
      support.equal(text(child), { "x = abqT" }, name)
      support.equal(child:lua("return vim.inspect(vim.fn.maparg('<Tab>', 'i', false, true))"), before, name)
      child:stop()
    end
    vim.fn.delete(file)
  end
end

function T.a_mapping_that_is_made_while_a_suggestion_is_shown_stays()
  local child = inline.start({ "x = " }, { suggest = rest_of("x = |abc") })
  inline.wait(child)
  child:lua([[vim.keymap.set("i", "<Tab>", "T", { buffer = 0 })]])
  inline.type(child, "q<Tab>")
  support.equal(text(child), { "x = qT" })
  child:stop()
end

function T.keys_that_are_in_use_are_left_alone_unless_the_user_chose_them()
  local child = inline.start({ "x = " }, {
    setup = "{ inline = { keys = { accept = '<C-y>', line = '<M-l>', dismiss = false } } }",
    before = [[vim.keymap.set("i", "<M-Right>", "R") vim.keymap.set("i", "<M-l>", "L")]],
    suggest = rest_of("x = |abc d"),
  })
  inline.wait(child)
  support.equal(child:lua("return vim.fn.maparg('<M-Right>', 'i')"), "R")
  support.equal(child:lua("return vim.fn.maparg('<M-Left>', 'i')"), "")
  support.lacks(child:lua("return vim.fn.maparg('<Tab>', 'i', false, true).desc or ''"), "Azimuth")
  support.contains(child:lua("return vim.fn.maparg('<M-l>', 'i', false, true).desc"), "Azimuth")
  inline.type(child, "<C-y>")
  support.equal(text(child), { "x = abc d" })
  support.equal(child:lua("return vim.fn.maparg('<M-l>', 'i')"), "L")
  child:lua("require('azimuth').setup({ mappings = false })")
  support.equal(child:lua("return vim.fn.maparg('<M-Up>', 'i')"), "")
  support.contains(child:lua("return vim.fn.maparg('<Plug>(AzimuthInlineInvoke)', 'i', false, true).desc"), "suggest")
  child:stop()
end

function T.a_dismissed_suggestion_is_told_and_does_not_come_back()
  local child = inline.start({ "x = " }, { suggest = rest_of("x = |abc") })
  inline.wait(child)
  inline.type(child, "<M-Left>")
  support.equal(shown(child), { "x =" })
  support.equal(text(child), { "x = " })
  support.equal(events(child), { "s1 shown", "s1 rejected" })
  inline.type(child, "")
  support.equal(visible(child), false)
  child:stop()
end

function T.several_suggestions_are_gone_through()
  local child = inline.start({ "x = " }, {
    setup = "{ inline = { keys = { next = '<M-PageDown>', prev = '<M-PageUp>' } } }",
    suggest = [[function(params)
      if params.trigger == "automatic" then return { { "one" } } end
      return { { "one" }, { "two" }, { "three" } }
    end]],
  })
  inline.wait(child)
  support.equal(shown(child), { "x = one" })
  child:type("<M-PageDown>")
  child:wait("_G.shown()[1] == 'x = two (2/3)'")
  inline.type(child, "<M-PageDown>")
  support.equal(shown(child), { "x = three (3/3)" })
  inline.type(child, "<M-PageDown>")
  support.equal(shown(child), { "x = one (1/3)" })
  inline.type(child, "<M-PageUp>")
  support.equal(shown(child), { "x = three (3/3)" })
  -- The one that the user types is meant.
  inline.type(child, "tw")
  support.equal(shown(child), { "x = two (2/3)" })
  inline.type(child, "<Tab>")
  support.equal(text(child), { "x = two" })
  child:stop()
end

function T.a_key_asks_and_says_why_there_is_nothing()
  local child = inline.start({ "x = " }, {
    setup = "{ inline = { enabled = false } }",
    suggest = [[function(params) return _G.answer or "The cursor is inside a word." end]],
  })
  inline.type(child, "y")
  support.equal(requests(child), 0)
  child:type("<M-Up>")
  child:wait("vim.fn.execute('messages'):find('Azimuth: The cursor is inside a word.', 1, true)")
  support.equal(child:lua("return _G.asked('inline_complete')[1][2].trigger"), "invoked")
  child:lua([[_G.answer = { { "abc" } }]])
  child:type("<M-Up>")
  inline.wait(child)
  support.equal(shown(child), { "x = yabc" })
  inline.type(child, "a")
  support.equal(shown(child), { "x = yabc" })
  child:stop()
end

-- When --------------------------------------------------------------------------------------------------------------

function T.an_answer_that_the_user_asked_for_is_waited_for_while_typing_goes_on()
  local child = inline.start({ "x = " }, {
    setup = "{ inline = { enabled = false } }",
    before = "_G.holds = true",
    suggest = rest_of("x = |abc"),
  })
  child:type("<M-Up>")
  child:wait("#_G.held_back == 1")
  inline.type(child, "a")
  child:lua("_G.let_go()")
  inline.wait(child)
  support.equal(shown(child), { "x = abc" })
  support.equal(requests(child), 1)
  child:stop()
end

function T.requests_are_in_order_on_the_wire_and_tell_what_the_server_wants_to_know()
  local child = inline.start({ "日 = " }, {
    before = "vim.o.expandtab = true vim.o.shiftwidth = 2 _G.holds = true",
    suggest = rest_of("日 = |xyz"),
  })
  child:wait("#_G.held_back == 1")
  inline.type(child, "x")
  child:wait("#_G.held_back == 2")
  local heard = child:lua([[
    local names = {}
    for _, one in ipairs(_G.heard) do
      table.insert(names, one[1] == "$/cancelRequest" and "cancel" or one[1]:match("[^/]+$"))
    end
    return vim.list_slice(names, #names - 2, #names)
  ]])
  support.equal(heard, { "didChange", "cancel", "complete" })
  local params = child:lua("local all = _G.asked('inline_complete') return all[#all][2]")
  support.equal(params.position, { line = 0, character = 5 })
  support.equal(params.indentation, { insertSpaces = true, tabSize = 2 })
  support.equal(params.trigger, "automatic")
  local version = child:lua([[
    local change = vim.iter(_G.heard):filter(function(one) return one[1] == "textDocument/didChange" end):last()
    return change[2].textDocument.version
  ]])
  support.equal(params.textDocument.version, version)
  child:lua("_G.let_go()")
  inline.wait(child)
  support.equal(shown(child), { "日 = xyz" })
  child:stop()
end

function T.an_answer_is_taken_for_the_text_as_it_is_when_it_comes()
  local child = inline.start({ "x = " }, { before = "_G.holds = true", suggest = rest_of("x = |abc") })
  child:wait("#_G.held_back == 1")
  -- The buffer changes behind our back, as another plugin would do it; the request is not sent again before the answer.
  child:lua([[
    vim.o.eventignore = "all"
    vim.api.nvim_buf_set_text(0, 0, 4, 0, 4, { "a" })
    vim.api.nvim_win_set_cursor(0, { 1, 5 })
    _G.let_go()
  ]])
  inline.wait(child)
  support.equal(shown(child), { "x = abc" })
  child:lua("vim.o.eventignore = ''")
  inline.type(child, "<Tab>")
  support.equal(text(child), { "x = abc" })
  child:stop()
end

function T.a_change_elsewhere_ends_a_suggestion_and_lines_above_move_it()
  local child = inline.start({ "a", "b", "x = " }, { suggest = rest_of("x = |abc") })
  inline.wait(child)
  child:lua([[vim.api.nvim_buf_set_lines(0, 0, 0, false, { "new" })]])
  inline.type(child, "a")
  support.equal(shown(child), { "new", "a", "b", "x = abc" })
  child:lua([[_G.suggest = function() return {} end vim.api.nvim_buf_set_lines(0, 2, 3, false, { "other" })]])
  inline.type(child, "b")
  support.equal(shown(child), { "new", "a", "other", "x = ab" })
  child:stop()
end

function T.nobody_is_asked_in_macros_snippets_diffs_read_only_and_nameless_buffers()
  local child = inline.start({ "x = " }, { suggest = [[function() return { { "abc" } } end]] })
  inline.wait(child)
  inline.type(child, "<Esc>")
  local function none(what, keys)
    local before = requests(child)
    inline.type(child, keys)
    support.equal(requests(child), before, what)
    support.equal(visible(child), false, what)
    inline.type(child, "<Esc>")
  end
  none("recording", "qqA1<Esc>q")
  none("playing", "@q")
  none("normal", ":normal A2<CR>")
  none("replace mode", "R1")
  child:lua("vim.wo.diff = true")
  none("diff", "A3")
  child:lua("vim.wo.diff = false vim.bo.readonly = true")
  none("read-only", "A4")
  child:lua("vim.bo.readonly = false vim.b.azimuth_inline = false")
  none("switched off in the buffer", "A5")
  child:lua("vim.b.azimuth_inline = nil vim.b.visual_multi = 1")
  none("several cursors", "A6")
  child:lua("vim.b.visual_multi = nil")
  child:command("new")
  none("a buffer without a name", "ix = ")
  child:command("close!")
  inline.type(child, "A7")
  inline.wait(child)
  inline.type(child, "<Esc>o")
  child:lua([[vim.snippet.expand("for ${1:x} in $2")]])
  inline.type(child, "y")
  support.equal(visible(child), false)
  child:lua("vim.snippet.stop()")
  inline.type(child, "<Esc>A")
  inline.wait(child)
  child:stop()
end

function T.the_cost_of_the_day_and_a_slow_model_are_in_the_status()
  local child = inline.start({ "x = " }, { suggest = [[function() return { { "abc" } } end]] })
  local function status(params)
    child:lua(([[_G.tell(require("azimuth.generated.protocol").notifications.inline_status, %s)]]):format(params))
  end
  local component = "require('azimuth.status').inline()"
  status([[{ state = "ready", model = "m", cost = 0.123 }]])
  child:wait(component .. " == 'suggests · $0.123 today'")
  status([[{ state = "ready", model = "m", cost = 0.004 }]])
  child:wait(component .. " == 'suggests · $0.004 today'")
  status([[{ state = "slow", model = "m", reason = { rule = "late", words = "It takes 3.4 seconds." } }]])
  child:wait(component .. " == 'suggestions slow'")
  inline.type(child, "1")
  inline.wait(child)
end

function T.switches_pause_and_stop()
  local child = inline.start({ "x = " }, {
    setup = "{ inline = { filetypes = { markdown = false } } }",
    suggest = [[function() return { { "abc" } } end]],
  })
  inline.wait(child)
  child:command("Azimuth inline off")
  support.equal(visible(child), false)
  local before = requests(child)
  inline.type(child, "1")
  support.equal(requests(child), before)
  support.equal(child:lua("return require('azimuth.status').inline()"), "")
  child:command("Azimuth inline toggle")
  inline.type(child, "2")
  inline.wait(child)
  support.equal(child:lua("return require('azimuth.status').inline()"), "suggests")
  child:command("Azimuth inline snooze 1")
  inline.type(child, "3")
  support.equal(visible(child), false)
  support.equal(child:lua("return require('azimuth.status').inline()"), "suggestions paused")
  child:command("Azimuth inline snooze 0")
  inline.type(child, "4")
  inline.wait(child)
  child:lua("vim.bo.filetype = 'markdown'")
  inline.type(child, "5")
  support.equal(visible(child), false)
  child:command("Azimuth inline nonsense")
  support.contains(vim.inspect(child:lua("return _G.said")), "there is no :Azimuth inline nonsense")
  child:lua("vim.bo.filetype = 'lua'")
  child:lua([[_G.tell(require("azimuth.generated.protocol").notifications.inline_status, { state = "off" })]])
  child:wait("require('azimuth.inline').state() == 'off'")
  before = requests(child)
  inline.type(child, "6")
  support.equal(requests(child), before)
  support.equal(child:lua("return vim.fn.getcompletion('Azimuth inline s', 'cmdline')"), { "snooze" })
  child:stop()
end

function T.a_list_says_why()
  local child = inline.start({ "x = " }, {})
  child:lua([[_G.explained = { decisions = { { uri = "", at = 0, position = { line = 0, character = 4 }, trigger = "automatic",
    source = "none", tookMs = 1, reason = { rule = "mid_word", words = "The cursor is inside a word." } } } }]])
  child:command("Azimuth inline why")
  child:wait([[vim.iter(vim.api.nvim_buf_get_lines(0, 0, -1, false)):any(function(line) return line:find("inside a word") end)]])
  support.equal(child:lua("return vim.api.nvim_buf_get_lines(0, 0, 1, false)"), { "Nothing in the editor prevents a suggestion here." })
  child:stop()
end

-- The completion menu -----------------------------------------------------------------------------------------------

--- A child with a menu of two entries for `pr`.
---@param setup? string
---@return Child
local function with_menu(setup)
  return inline.start({ "print(1)", "prune(2)", "" }, {
    setup = setup,
    before = "vim.o.completeopt = 'menu,menuone,noinsert,noselect'",
    suggest = [[function(params)
      local selected = params.selected
      local before = vim.api.nvim_get_current_line():sub(1, vim.fn.col(".") - 1)
      if selected then
        return { { selected.text .. "(x)", selected.range.start.character, selected.range["end"].character } }
      end
      return before == "pr" and { { "int(y)" } } or "There is nothing."
    end]],
  })
end

function T.a_suggestion_goes_on_from_the_entry_that_is_selected_in_the_menu()
  local child = with_menu()
  inline.type(child, "pr")
  inline.wait(child)
  support.equal(shown(child)[3], "print(y)")
  inline.type(child, "<C-n>")
  child:wait("vim.fn.pumvisible() == 1")
  inline.type(child, "<C-n>")
  child:wait("_G.shown()[3] == 'print(x)' or _G.shown()[3] == 'prune(x)' or _G.shown()[3] == 'print(y)'")
  inline.type(child, "<C-n>")
  child:wait("_G.shown()[3] == 'prune(x)' or _G.shown()[3] == 'print(x)'")
  local selected = child:lua("local all = _G.asked('inline_complete') return all[#all][2].selected")
  support.equal(selected.range.start, { line = 2, character = 0 })
  -- Tab is the menu's; a name accepts.
  child:lua([[vim.keymap.set("i", "<C-l>", "<Plug>(AzimuthInlineAccept)", { remap = true })]])
  local line = shown(child)[3]
  inline.type(child, "<C-l>")
  support.equal(text(child)[3], line)
  child:stop()
end

function T.tab_is_the_menus_if_it_is_mapped_or_an_entry_is_selected()
  for _, map in ipairs({ "", [[vim.keymap.set("i", "<Tab>", "<C-n>")]] }) do
    local child = with_menu()
    child:lua(map)
    inline.type(child, "pr")
    inline.wait(child)
    inline.type(child, "<C-n>")
    child:wait("vim.fn.pumvisible() == 1")
    inline.type(child, "<Tab>")
    if map == "" then
      support.equal(text(child)[3], "print(y)")
    else
      child:wait("vim.fn.complete_info({ 'selected' }).selected == 0")
      support.equal(text(child)[3], "print")
    end
    child:stop()
  end
end

function T.a_suggestion_steps_aside_for_the_menu_if_the_user_wants_it()
  local child = with_menu("{ inline = { menu = 'hide' } }")
  inline.type(child, "pr")
  inline.wait(child)
  inline.type(child, "<C-n>")
  child:wait("vim.fn.pumvisible() == 1")
  child:wait("not require('azimuth.inline').visible()")
  inline.type(child, "<C-e>")
  inline.wait(child)
  support.equal(shown(child)[3], "print(y)")
  child:stop()
end

function T.a_menu_of_a_plugin_is_asked_and_heard()
  local child = inline.start({ "x = " }, {
    setup = "{ inline = { menu = 'hide' } }",
    before = [[
      _G.menu_open, _G.told = true, {}
      package.loaded["cmp"] = {
        visible = function() return _G.menu_open end,
        get_active_entry = function() return _G.entry end,
        event = { on = function(_, name, callback) _G.told[name] = callback end },
      }
    ]],
    suggest = rest_of("x = |abc"),
  })
  child:wait("_G.told.menu_closed ~= nil")
  inline.type(child, "a")
  support.equal(visible(child), false)
  child:lua("_G.menu_open = false _G.told.menu_closed()")
  inline.wait(child)
  child:lua("_G.menu_open = true _G.told.menu_opened()")
  child:wait("not require('azimuth.inline').visible()")
  child:lua([[require("azimuth.config").values.inline.menu = "beside"  _G.told.menu_opened()]])
  inline.wait(child)
  child:lua("_G.entry = {} _G.told.menu_opened()")
  child:wait("not require('azimuth.inline').visible()")
  child:lua([[
    package.loaded["cmp"] = nil
    package.loaded["blink.cmp"] = { is_visible = function() return true end }
    vim.cmd("doautocmd User BlinkCmpMenuOpen")
  ]])
  inline.wait(child)
  child:lua([[package.loaded["blink.cmp.completion.list"] = { is_explicitly_selected = true }
    vim.cmd("doautocmd User BlinkCmpMenuOpen")]])
  child:wait("not require('azimuth.inline').visible()")
  child:stop()
end

-- Others ------------------------------------------------------------------------------------------------------------

function T.another_plugin_that_suggests_is_left_alone_and_told_of_once()
  for what, is_there in pairs({
    ["copilot.vim"] = "vim.g.loaded_copilot = 1",
    ["codeium.vim"] = "vim.g.loaded_codeium = 1",
    ["codeium.nvim"] = "package.loaded['codeium.config'] = { options = { virtual_text = { enabled = true } } }",
    ["supermaven-nvim"] = [[package.loaded["supermaven-nvim.completion_preview"] = {}
      package.loaded["supermaven-nvim.api"] = { is_running = function() return true end }]],
    ["minuet-ai.nvim"] = [[package.loaded["minuet.virtualtext"] = {}
      vim.api.nvim_create_autocmd("BufRead", { callback = function() vim.b.minuet_virtual_text_auto_trigger = true end })]],
    ["llama.vim"] = [[vim.cmd("augroup llama | autocmd CursorMovedI * let g:x = 1 | augroup END")]],
    ["copilot.lua"] = [[package.loaded["copilot.suggestion"] = {}
      local get = vim.lsp.get_clients
      vim.lsp.get_clients = function(filter) return filter and filter.name == "copilot" and { {} } or get(filter) end]],
  }) do
    local child = inline.start({ "x = " }, { before = is_there, suggest = [[function() return { { "abc" } } end]] })
    child:wait("#_G.said > 0")
    inline.type(child, "1<Esc>a2")
    support.equal(visible(child), false, what)
    support.equal(requests(child), 0, what)
    local said = child:lua("return _G.said")
    support.equal(#said, 1, what)
    support.contains(said[1][1], what .. " suggests text here already")
    child:stop()
  end
  local child = inline.start({ "x = " }, {
    setup = "{ inline = { force = true } }",
    before = "vim.g.loaded_copilot = 1",
    suggest = [[function() return { { "abc" } } end]],
  })
  inline.wait(child)
  support.equal(child:lua("return _G.said"), {})
  child:stop()
end

function T.neovims_own_inline_completion_of_another_server_is_left_alone()
  if vim.fn.has("nvim-0.12") == 0 then
    return
  end
  local child = inline.start({ "x = " }, {
    before = [[
      vim.lsp.start({
        name = "other",
        root_dir = vim.fn.getcwd(),
        cmd = function()
          return {
            request = function(method, _, callback)
              local result = method == "initialize" and { capabilities = { inlineCompletionProvider = true } } or nil
              vim.schedule(function() callback(nil, result) end)
              return true, 1
            end,
            notify = function() return true end,
            is_closing = function() return false end,
            terminate = function() end,
          }
        end,
      }, { attach = false })
      vim.api.nvim_create_autocmd("BufRead", { callback = function(args)
        vim.lsp.buf_attach_client(args.buf, vim.lsp.get_clients({ name = "other" })[1].id)
      end })
      vim.wait(200, function() return #vim.lsp.get_clients({ name = "other" }) == 1 end)
    ]],
    suggest = [[function() return { { "abc" } } end]],
  })
  inline.wait(child)
  inline.type(child, "<Esc>")
  child:lua("vim.lsp.inline_completion.enable()")
  child:type("a")
  child:wait("#_G.said > 0")
  support.contains(child:lua("return _G.said[1][1]"), "vim.lsp.inline_completion suggests text here already")
  support.equal(visible(child), false)
  child:stop()
end

function T.neovims_own_inline_completion_does_not_ask_the_same_server()
  local child = inline.start({ "x = " }, {
    before = "if vim.lsp.inline_completion then vim.lsp.inline_completion.enable() end",
    suggest = [[function() return { { "abc" } } end]],
  })
  inline.wait(child)
  local capabilities = child:lua("return _G.heard[1][2].capabilities.textDocument")
  support.equal(capabilities.inlineCompletion, vim.NIL)
  child:stop()
end

function T.the_end_of_the_server_takes_the_suggestion_along()
  local child = inline.start({ "x = " }, { suggest = [[function() return { { "abc" } } end]] })
  inline.wait(child)
  child:lua([[require("azimuth.inline.held") local client = require("azimuth.client").lsp_client()
    if vim.fn.has("nvim-0.11") == 1 then client:stop(true) else client.stop(true) end]])
  child:wait("require('azimuth.inline').state() == 'off'")
  support.equal(visible(child), false)
  child:type("<M-Up>")
  child:wait("vim.fn.execute('messages'):find('server is not running', 1, true)")
  child:stop()
end

return T
