--- Suggested edits in a real Neovim that is driven by keys, with a server that suggests what the test says.

local edits = require("edits_support")
local inline = require("inline_support")
local support = require("support")

local asked, change, shown, start, text = edits.asked, edits.change, edits.shown, edits.start, edits.text
local wait, wait_gone = edits.wait, edits.wait_gone
local CODE, HEIGHT, TWO, REST = edits.CODE, edits.HEIGHT, edits.TWO, edits.REST

local T = {}

--- Whole lines in place of the function.
local LINES = [[function()
  return { { 3, 0, 6, 0, "local function area(scale)\n  local full = width * height\n  return full\nend\n" } }
end]]

-- Showing -----------------------------------------------------------------------------------------------------------

function T.an_edit_of_a_word_is_shown_in_its_line_and_taken_with_tab_as_one_step()
  local child = start({ 4, 0 }, HEIGHT)
  change(child, "~")
  support.equal(child:lua("return _G.asked('inline_edit')[1][2].trigger"), "automatic")
  support.equal(shown(child)[5], "  return width * widthheight")
  support.equal(text(child)[5], "  return width * width")
  child:lua("_G.next_edit = function() return 'no more' end")
  -- The first goes there, the second accepts.
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)"), { 5, 17 })
  inline.type(child, "<Tab>")
  child:wait("_G.text()[5] == '  return width * height'")
  child:wait("require('azimuth.inline.edits.pending').edit() == nil")
  support.equal(shown(child)[5], "  return width * height")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 5)
  inline.type(child, "u")
  support.equal(text(child)[5], "  return width * width")
  support.equal(text(child)[4], "Local function area()")
  inline.type(child, "<C-o>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 4)
  support.equal(child:lua("return _G.events()"), { "e1 shown" })
  child:stop()
end

function T.new_lines_are_shown_below_the_old_ones_and_the_cursors_line_stays()
  local child = start({ 4, 0 }, LINES)
  local before = child:lua("return vim.fn.winline()")
  change(child)
  support.equal(child:lua("return vim.fn.winline()"), before)
  support.equal(vim.list_slice(shown(child), 4, 9), {
    "LOcal function area()", "  return width * width",
    "local function area(scale)", "  local full = width * height", "  return full", "end",
  })
  inline.type(child, "<Tab>")
  child:wait("#_G.text() == 7")
  support.equal(text(child)[4], "local function area(scale)")
  child:stop()
end

function T.lines_above_the_cursor_get_no_lines_between_them_before_the_cursor_is_there()
  local child = start({ 6, 0 }, [[function() return { { 1, 0, 2, 0, "local height = 4\nlocal depth = 5\n" } } end]])
  local before = child:lua("return vim.fn.winline()")
  change(child, "~")
  support.equal(child:lua("return vim.fn.winline()"), before)
  local rows = shown(child)
  support.equal(#rows, #CODE)
  support.contains(rows[2], "local height = 3  ↳ local height = 4 … 1 more line")
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 2)
  support.equal(vim.list_slice(shown(child), 2, 4), { "local height = 3", "local height = 4", "local depth = 5" })
  child:stop()
end

function T.an_edit_off_the_screen_is_told_at_the_cursor()
  local code = {}
  for row = 1, 200 do
    table.insert(code, ("local x%d = %d"):format(row, row))
  end
  local child = start({ 5, 0 }, [[function() return { { 149, 6, 149, 10, "y" } } end]], { code = code })
  change(child, "~")
  support.equal(shown(child)[5], "Local x5 = 5  ↓ 145 lines · Tab")
  inline.type(child, "j")
  support.equal(vim.list_slice(shown(child), 5, 6), { "Local x5 = 5", "local x6 = 6  ↓ 144 lines · Tab" })
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)"), { 150, 6 })
  inline.type(child, "gg")
  support.equal(shown(child)[1], "local x1 = 1  ↓ 149 lines · Tab")
  inline.type(child, "G")
  support.contains(child:lua("return table.concat(_G.shown(), '\\n')"), "local x200 = 200  ↑ 50 lines · Tab")
  child:stop()
end

function T.what_goes_is_marked_and_each_hunk_has_a_sign_where_that_moves_nothing()
  local groups = [[
    local namespace = require("azimuth.inline.edits.draw").namespace
    local found = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })
    local signs, tints = {}, {}
    for _, mark in ipairs(found) do
      if mark[4].sign_text then table.insert(signs, mark[2]) end
      if mark[4].hl_group then
        table.insert(tints, { mark[2], mark[3], mark[4].end_row, mark[4].end_col, mark[4].hl_group })
      end
    end
    return { signs, tints }
  ]]
  local both = [[function() return { { 1, 15, 1, 16, "4" }, { 4, 0, 5, 0, "" } } end]]
  local child = start({ 1, 0 }, both)
  change(child)
  local tints = { { 1, 15, 1, 16, "AzimuthEditDelete" }, { 4, 0, 5, 0, "AzimuthEditDelete" } }
  support.equal(child:lua(groups), { {}, tints })
  child:stop()
  child = start({ 1, 0 }, both, { before = "vim.o.signcolumn = 'yes'" })
  change(child)
  support.equal(child:lua(groups)[1], { 1, 4 })
  child:stop()
end

function T.with_signs_only_the_text_comes_when_the_user_asks()
  local child = start({ 4, 0 }, HEIGHT, {
    setup = "{ inline = { edits = { display = 'sign' } } }",
    before = "vim.o.signcolumn = 'yes' vim.keymap.set('n', '<Tab>', 'G')",
  })
  inline.type(child, "~")
  local marks = [[return #vim.api.nvim_buf_get_extmarks(0, require("azimuth.inline.edits.draw").namespace, 0, -1, {})]]
  child:wait("(function() " .. marks .. " end)() == 1")
  support.equal(shown(child)[5], "  return width * width")
  support.equal(child:lua("return _G.events()"), {})
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 6)
  inline.type(child, "<M-Up>")
  wait(child)
  support.equal(shown(child)[5], "  return width * widthheight")
  support.equal(child:lua("return _G.events()"), { "e1 shown" })
  child:stop()
end

-- Following the text ------------------------------------------------------------------------------------------------

function T.a_change_elsewhere_keeps_it_and_a_change_in_it_takes_it_off_until_the_server_speaks()
  local child = start({ 4, 0 }, HEIGHT)
  change(child, "~")
  child:lua("_G.holds = true")
  inline.type(child, "ggOx<Esc>")
  wait(child)
  support.equal(shown(child)[6], "  return width * widthheight")
  inline.type(child, "6G0iab<Esc>")
  support.equal(shown(child)[6], "ab  return width * widthheight")
  inline.type(child, "$x")
  support.equal(shown(child)[6], "ab  return width * widt")
  support.equal(child:lua("return vim.fn.maparg('<Tab>', 'n')"), "")
  child:lua([[
    local client = require("azimuth.client").lsp_client()
    local version = require("azimuth.lang.diagnostics").version(client.id, 0)
    local edit = _G.edit_of({ { 5, 19, 5, 23, "heig" } }, vim.uri_from_bufnr(0), version)
    edit.id = "e1"
    _G.tell(require("azimuth.generated.protocol").notifications.inline_changed, { id = "e1", edit = edit })
  ]])
  wait(child)
  support.equal(shown(child)[6], "ab  return width * widtheig")
  child:lua([[_G.tell(require("azimuth.generated.protocol").notifications.inline_changed, { id = "e1" })]])
  wait_gone(child)
  support.equal(shown(child)[6], "ab  return width * widt")
  -- It went by the server's word, so it is not told of it.
  support.equal(child:lua("return _G.events()"), { "e1 shown" })
  child:stop()
end

function T.a_word_of_the_server_about_an_earlier_text_takes_nothing_off()
  local child = start({ 4, 0 }, HEIGHT)
  change(child, "~")
  child:lua("_G.holds = true")
  inline.type(child, "ggO<Esc>")
  local word = [[
    local client = require("azimuth.client").lsp_client()
    local version = require("azimuth.lang.diagnostics").version(client.id, 0)
    local edit = _G.edit_of({ { ..., 17, ..., 22, "depth" } }, vim.uri_from_bufnr(0), version - %d)
    edit.id = "e1"
    _G.tell(require("azimuth.generated.protocol").notifications.inline_changed, { id = "e1", edit = edit })
  ]]
  child:lua(word:format(1), 4)
  child:wait("require('azimuth.inline.edits.pending').edit().hunks[1].text == 'depth'")
  support.equal(shown(child)[6], "  return width * widthheight")
  child:lua(word:format(0), 5)
  child:wait("_G.shown()[6] == '  return width * widthdepth'")
  child:stop()
end

function T.an_edit_of_another_text_than_the_one_on_the_screen_is_not_drawn()
  local child = start({ 4, 0 }, HEIGHT)
  child:lua("_G.holds = true")
  inline.type(child, "~")
  child:wait("#_G.held_back == 1")
  child:lua("_G.edit.version = _G.edit.version - 1 _G.let_go()")
  child:wait("require('azimuth.inline.edits.pending').edit() ~= nil")
  support.equal(child:lua("return require('azimuth.inline').edit_visible()"), false)
  support.equal(shown(child)[5], "  return width * width")
  child:stop()
end

function T.each_change_asks_once_and_ends_the_request_before()
  local child = start({ 4, 0 }, HEIGHT)
  child:lua("_G.holds = true")
  inline.type(child, "~")
  inline.type(child, "ll")
  support.equal(asked(child), 1)
  inline.type(child, "~")
  support.equal(asked(child), 2)
  local heard = child:lua([[return vim.tbl_map(function(one) return one[1] end,
    vim.list_slice(_G.heard, #_G.heard - 2))]])
  support.equal(heard, { "textDocument/didChange", "$/cancelRequest", "azimuth/inline/edit" })
  local versions = child:lua([[return vim.tbl_map(function(one) return one[2].textDocument.version end,
    _G.asked("inline_edit"))]])
  assert(versions[2] > versions[1])
  inline.type(child, "ix<Esc>")
  assert(asked(child) >= 3)
  child:stop()
end

function T.a_new_edit_replaces_the_one_before()
  local child = start({ 4, 0 }, HEIGHT)
  change(child, "~")
  inline.type(child, "~")
  child:wait("#_G.events() == 3")
  support.equal(child:lua("return _G.events()"), { "e1 shown", "e1 replaced", "e2 shown" })
  support.equal(shown(child)[5], "  return width * widthheight")
  child:stop()
end

-- Keys --------------------------------------------------------------------------------------------------------------

function T.tab_is_mapped_only_while_an_edit_is_visible_and_then_what_it_was_before()
  for _, where in ipairs({ "", "buffer = true," }) do
    local child = start({ 4, 0 }, HEIGHT)
    child:lua(([[
      _G.tabs = 0
      local function tab() _G.tabs = _G.tabs + 1 return "" end
      vim.keymap.set({ "n", "i" }, "<Tab>", tab, { %s expr = true, desc = "mine" })
    ]]):format(where))
    change(child, "~")
    inline.type(child, "<Tab>")
    support.equal(child:lua("return { _G.tabs, vim.api.nvim_win_get_cursor(0)[1] }"), { 0, 5 })
    inline.type(child, "v<Tab><Esc>")
    child:lua("_G.next_edit = function() return 'no more' end")
    inline.type(child, "<M-Left>")
    wait_gone(child)
    support.equal(child:lua("return _G.events()"), { "e1 shown", "e1 rejected" })
    inline.type(child, "<Tab>i<Tab><Esc>")
    support.equal(child:lua("return _G.tabs"), 2)
    for _, mode in ipairs({ "n", "i" }) do
      support.equal(child:lua(("return vim.fn.maparg('<Tab>', '%s', false, true).desc"):format(mode)), "mine")
    end
    child:stop()
  end
end

function T.in_insert_mode_tab_goes_there_accepts_and_each_is_one_undo_step()
  local child = inline.start(CODE, { edits = HEIGHT, cursor = { 2, 16 } })
  inline.type(child, "<End>0")
  wait(child)
  child:lua("_G.next_edit = function() return 'no more' end")
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)"), { 5, 17 })
  inline.type(child, "<Tab>")
  child:wait("_G.text()[5] == '  return width * height'")
  support.equal(child:lua("return vim.api.nvim_get_mode().mode"), "i")
  child:wait("vim.deep_equal(vim.api.nvim_win_get_cursor(0), { 5, 23 })")
  wait_gone(child)
  inline.type(child, "1<Tab>2")
  support.equal(text(child)[5]:gsub("%s+", " "), " return width * height1 2")
  inline.type(child, "<Esc>u")
  support.equal(text(child)[5], "  return width * height")
  inline.type(child, "u")
  support.equal(text(child)[5], "  return width * width")
  support.equal(text(child)[2], "local height = 30")
  inline.type(child, "u")
  support.equal(text(child)[2], "local height = 3")
  child:stop()
end

function T.in_white_space_tab_indents_unless_it_has_just_jumped_there()
  local depth = [[function() return { { 1, 6, 1, 12, "depth" } } end]]
  local child = inline.start(CODE, { edits = depth, cursor = { 3, 0 } })
  inline.type(child, " ")
  wait(child)
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 3)
  support.equal(text(child)[3]:gsub("\t", "        "):sub(1, 8), "        ")
  child:stop()
  child = inline.start(CODE, { edits = [[function() return { { 4, 0, 5, 0, "" } } end]], cursor = { 2, 16 } })
  inline.type(child, "<End>0")
  wait(child)
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)"), { 5, 2 })
  child:lua("_G.next_edit = nil")
  inline.type(child, "<Tab>")
  child:wait("#_G.text() == 5")
  child:stop()
end

function T.ghost_text_comes_first()
  local child = inline.start(CODE, {
    edits = HEIGHT,
    cursor = { 2, 16 },
    suggest = [[function() return { { "00", nil, nil } } end]],
  })
  inline.type(child, "<End>1")
  inline.wait(child)
  child:wait("require('azimuth.inline.edits.pending').edit() ~= nil")
  local rows = { "local height = 3100", "", "local function area()", "  return width * width" }
  support.equal(vim.list_slice(shown(child), 2, 5), rows)
  child:lua("_G.next_edit = nil _G.suggest = function() return 'nothing' end")
  inline.type(child, "<M-Left>")
  wait(child)
  rows = { "local height = 31", "", "local function area()", "  return width * widthheight" }
  support.equal(vim.list_slice(shown(child), 2, 5), rows)
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)"), { 5, 17 })
  inline.type(child, "<Esc>")
  inline.type(child, "<M-S-Left>")
  wait_gone(child)
  support.equal(child:lua("return { #vim.api.nvim_buf_get_keymap(0, 'i'), vim.fn.maparg('<Tab>', 'n') }"), { 0, "" })
  child:stop()
end

function T.an_edit_at_the_cursor_is_ghost_text_in_insert_mode()
  local child = inline.start(CODE, {
    cursor = { 3, 0 },
    edits = [[function(params)
      if params.position.line ~= 2 or params.position.character ~= 1 then return "later" end
      local line = vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]
      local range = { start = { line = 2, character = 0 }, ["end"] = { line = 2, character = #line } }
      return { { 2, 0, 3, 0, "local depth = 4\n" }, more = { ghost = { range = range, text = "local depth = 4" } } }
    end]],
  })
  inline.type(child, "l")
  wait(child)
  support.equal(shown(child)[3], "local depth = 4")
  support.equal(text(child)[3], "l")
  -- The part of it that is typed becomes text at once.
  child:lua("_G.holds = true")
  inline.type(child, "oc")
  support.equal(shown(child)[3], "local depth = 4")
  support.equal(text(child)[3], "loc")
  inline.type(child, "x")
  support.equal(shown(child)[3], "locx")
  wait_gone(child)
  child:stop()
end

function T.tab_is_the_menus_if_an_entry_is_selected()
  local child = inline.start(CODE, { edits = HEIGHT, cursor = { 3, 0 }, before = "vim.o.completeopt = 'menu,menuone'" })
  inline.type(child, "w")
  wait(child)
  inline.type(child, "<C-n>")
  child:wait("vim.fn.pumvisible() == 1")
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 3)
  assert(text(child)[3] ~= "w")
  child:stop()
end

function T.the_keys_of_a_macro_are_left_alone()
  local child = start({ 4, 0 }, HEIGHT)
  change(child, "~")
  inline.type(child, "qa")
  wait_gone(child)
  support.equal(child:lua("return vim.fn.maparg('<Tab>', 'n')"), "")
  inline.type(child, "q")
  child:stop()
end

-- Decisions ---------------------------------------------------------------------------------------------------------

function T.hunks_are_accepted_one_by_one_or_together()
  local child = start({ 1, 0 }, TWO)
  change(child)
  child:lua(REST)
  child:lua("_G.next_edit = nil")
  support.equal(shown(child)[1], "LOcal widthsize = 2")
  inline.type(child, "<M-Right>")
  child:wait("_G.text()[1] == 'LOcal size = 2'")
  support.equal(child:lua("return _G.asked('inline_accept')[1][2]"), { id = "e1", hunks = { "h1" } })
  wait(child)
  support.equal(shown(child)[5], "  return widthsize * widthsize")
  support.equal(text(child)[5], "  return width * width")
  inline.type(child, "<M-Down>")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)[1]"), 5)
  inline.type(child, "<M-Right>")
  child:wait("_G.text()[5] == '  return size * size'")
  child:stop()

  -- All of it is on the screen, so Tab accepts all of it.
  child = start({ 1, 0 }, TWO)
  change(child)
  child:lua("_G.next_edit = nil")
  inline.type(child, "<Tab>")
  child:wait("_G.text()[5] == '  return size * size'")
  support.equal(text(child)[1], "LOcal size = 2")
  support.equal(child:lua("return _G.asked('inline_accept')[1][2].hunks"), vim.NIL)
  inline.type(child, "u")
  support.equal({ text(child)[1], text(child)[5] }, { "LOcal width = 2", "  return width * width" })
  child:stop()
end

function T.what_is_not_on_the_screen_is_not_accepted_with_tab()
  local code = { "local width = 2" }
  for row = 1, 100 do
    table.insert(code, "-- " .. row)
  end
  table.insert(code, "return width")
  local far = [[function() return { { 0, 6, 0, 11, "size" }, { 101, 7, 101, 12, "size" } } end]]
  local child = start({ 1, 0 }, far, { code = code })
  change(child)
  child:lua("_G.next_edit = nil")
  inline.type(child, "<Tab>")
  child:wait("_G.text()[1] == 'LOcal size = 2'")
  support.equal(text(child)[102], "return width")
  support.equal(child:lua("return _G.asked('inline_accept')[1][2].hunks"), { "h1" })
  child:stop()
end

function T.what_a_closed_fold_hides_is_shown_with_tab_before_it_is_accepted()
  local child = edits.start({ 5, 9 }, edits.HEIGHT)
  edits.change(child)
  local before = edits.text(child)
  child:type("4GzfG5G")
  child:wait("vim.fn.foldclosed(5) == 4 and vim.api.nvim_win_get_cursor(0)[1] == 5")
  child:type("<Tab>")
  child:wait("vim.fn.foldclosed(5) == -1")
  support.equal(edits.text(child), before)
  support.contains(edits.shown(child)[5], "widthheight")
  child:type("<Tab>")
  child:wait("_G.text()[5] == '  return WIdth * height'")
  child:stop()
end

function T.hunks_are_rejected_one_by_one_or_together()
  local child = start({ 1, 0 }, TWO)
  change(child)
  child:lua("_G.next_edit = nil")
  inline.type(child, "<M-Left>")
  support.equal(shown(child)[1], "LOcal width = 2")
  support.equal(shown(child)[5], "  return widthsize * widthsize")
  support.equal(child:lua("return _G.events()"), { "e1 shown", "e1 rejected h1" })
  inline.type(child, "<M-Left>")
  wait_gone(child)
  support.equal(child:lua("return _G.events()"), { "e1 shown", "e1 rejected h1", "e1 rejected" })
  child:stop()

  child = start({ 1, 0 }, TWO)
  change(child)
  child:lua("_G.next_edit = nil")
  inline.type(child, "<M-S-Left>")
  wait_gone(child)
  support.equal(shown(child)[5], "  return width * width")
  support.equal(child:lua("return _G.events()"), { "e1 shown", "e1 rejected" })
  child:stop()
end

function T.a_hunk_at_the_end_of_the_window_is_scrolled_to_when_the_cursor_goes_there()
  local code = {}
  for row = 1, 100 do
    table.insert(code, "-- " .. row)
  end
  local low = [[function() return { { 9, 0, 10, 0, "one\ntwo\nthree\n" } } end]]
  local child = start({ 1, 0 }, low, { code = code, lines = 12 })
  change(child, "x")
  local rows = shown(child)
  support.equal(rows[10], "-- 10  … 3 new lines")
  inline.type(child, "<Tab>")
  support.contains(table.concat(shown(child), "|"), "-- 10|one|two|three|-- 11")
  child:stop()
end

function T.a_mapping_with_expr_goes_there_and_accepts()
  for _, mode in ipairs({ "n", "i" }) do
    local child = start({ 4, 0 }, HEIGHT)
    child:lua([[vim.keymap.set({ "n", "i" }, "<C-l>", function()
      return require("azimuth.inline").go() and "" or "<C-l>"
    end, { expr = true })]])
    change(child, mode == "n" and "~" or "ix")
    child:type("<C-l>")
    child:wait("vim.api.nvim_win_get_cursor(0)[1] == 5")
    child:type("<C-l>")
    child:wait("_G.text()[5] == '  return width * height'")
    support.equal(child:lua("return { vim.v.errmsg, vim.api.nvim_get_mode().mode }"), { "", mode })
    child:stop()
  end
end

function T.lines_below_the_window_are_told_also_if_long_lines_do_not_wrap()
  local code = vim.list_extend({}, edits.CODE)
  code[5] = "  return " .. ("width + "):rep(20) .. "1"
  local longer = [[function() return { { 4, 0, 4, 169, "  local a = 1\n  local b = 2\n  local c = 3\n  return a" } } end]]
  local child = start({ 4, 0 }, longer, { code = code, lines = 9 })
  for _, keys in ipairs({ "", "5G30zl4Gzs" }) do
    child:lua("vim.wo.wrap = false")
    child:type(keys)
    change(child)
    local rows = shown(child)
    assert(rows[5]:find("… 2 new lines$"), table.concat(rows, "\n"))
  end
  child:stop()
end

function T.a_change_that_the_server_refuses_is_told_and_the_edit_stays()
  local child = start({ 5, 17 }, HEIGHT)
  change(child, "gg0~")
  child:lua("_G.refuses = 'The document has changed.'")
  inline.type(child, "5G<Tab>")
  child:wait("vim.fn.execute('messages'):find('Azimuth: The document has changed.', 1, true)")
  support.equal(child:lua("return #_G.said"), 0)
  wait(child)
  child:stop()
end

function T.an_edit_of_another_file_is_told_opened_and_accepted_there()
  local child = start({ 4, 0 }, [[function(params)
    if not vim.endswith(params.textDocument.uri, "a.lua") then return "not here" end
    local uri = params.textDocument.uri:gsub("a%.lua$", "b.lua")
    return { { 1, 0, 1, 3, "two" }, more = { uri = uri, version = 0, kind = "jump" } }
  end]])
  child:lua([[vim.fn.writefile({ "one", "zwo" }, "b.lua")]])
  change(child, "~")
  support.equal(shown(child)[4], "Local function area()  → b.lua:2 · Tab")
  inline.type(child, "<Tab>")
  support.equal(child:lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))"), "b.lua")
  support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)"), { 2, 0 })
  wait(child)
  support.contains(shown(child)[2], "zwotwo")
  inline.type(child, "<Tab>")
  child:wait("_G.text()[2] == 'two'")
  inline.type(child, "<C-o><C-o>")
  support.equal(child:lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))"), "a.lua")
  child:stop()
end

function T.an_edit_of_another_file_is_rejected_from_here()
  local child = start({ 4, 0 }, [[function(params)
    local uri = params.textDocument.uri:gsub("a%.lua$", "b.lua")
    return { { 1, 0, 1, 3, "two" }, { 2, 0, 2, 3, "too" }, more = { uri = uri, version = 0, kind = "jump" } }
  end]])
  change(child, "~")
  child:lua("_G.next_edit = nil")
  inline.type(child, "<M-Left>")
  wait_gone(child)
  support.equal(child:lua("return _G.events()"), { "e1 shown", "e1 rejected" })
  child:stop()
end

function T.an_edit_that_is_not_of_this_file_is_not_told_in_a_third_one()
  local child = start({ 4, 0 }, HEIGHT)
  change(child, "~")
  child:lua("_G.next_edit = nil")
  child:command("edit c.lua")
  wait_gone(child)
  support.equal(child:lua("return vim.fn.maparg('<Tab>', 'n')"), "")
  child:command("edit a.lua")
  wait(child)
  child:stop()
end

return T
