--- "Change this", end to end: keys in a real Neovim, the real server, and a model that proposes edits.

local models = require("model")
local support = require("support")

local T = {}

local CODE = [[
local M = {}

function M.area(width, height)
  local area = width * height
  return area
end

function M.circumference(width, height)
  return width + width + height + height
end

return M
]]

---@param old string
---@param new string
---@param path? string
local function replace(old, new, path)
  return models.replace(path or "shape.lua", old, new)
end

local SHORTER = replace("  local area = width * height\n  return area\n", "  return width * height\n")
local DOUBLED = replace("  return width + width + height + height\n", "  return 2 * width + 2 * height\n")
local FACTORED = replace("  return 2 * width + 2 * height\n", "  return 2 * (width + height)\n")

-- The questions of the tests to a child whose buffer is that of `shape.lua`.
local PREPARED = [[
  _G.code = vim.api.nvim_get_current_buf()
  _G.text = function() return table.concat(vim.api.nvim_buf_get_lines(_G.code, 0, -1, false), "\n") .. "\n" end
  _G.hunks = function() return #require("azimuth.review.marks").list(_G.code) end
  _G.prompting = function() return vim.bo.filetype == "azimuth-change" and vim.api.nvim_get_mode().mode == "i" end
  _G.title = function() return vim.api.nvim_win_get_config(0).title[1][1] end
  _G.has_said = function(part)
    return vim.iter(_G.said):any(function(one) return one[1]:find(part, 1, true) ~= nil end)
  end
  _G.idle = function() return require("azimuth.change").running() == 0 end
  _G.sign = function()
    local namespace = vim.api.nvim_get_namespaces()["azimuth.change.sign"]
    local mark = vim.api.nvim_buf_get_extmarks(_G.code, namespace, 0, -1, { details = true })[1]
    if not mark then return nil end
    local words = vim.iter(mark[4].virt_text):map(function(chunk) return chunk[1] end):join("")
    return { row = mark[2], words = words }
  end
]]

--- Runs a story in `shape.lua`, in normal mode.
---@param answers Answer[]
---@param story fun(child: Child, model: Model, place: Place)
---@param options? { asks_trust?: boolean, settings?: string }
local function changing(answers, story, options)
  options = options or {}
  local model = models.start(answers)
  local place = support.place({ ["shape.lua"] = CODE, ["other.lua"] = "return 1\n" })
  support.use_model(place, model, options.settings)
  local child = support.start(place, { asks_trust = options.asks_trust })
  local ok, problem = xpcall(function()
    child:command("edit shape.lua")
    child:lua(PREPARED)
    story(child, model, place)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

--- Types keys that open the prompt, then words, and sends them.
---@param child Child
---@param keys string
---@param words string
local function instruct(child, keys, words)
  child:type(keys)
  child:wait("_G.prompting()")
  child:type(words .. "<CR>")
  child:wait("vim.api.nvim_get_current_buf() == _G.code and vim.api.nvim_get_mode().mode == 'n'")
end

---@return string
local function text(child)
  return child:lua("return _G.text()")
end

function T.a_selection_becomes_hunks_which_are_accepted_rejected_refined_and_undone()
  local answers = {
    { calls = { SHORTER, DOUBLED } },
    { text = "Done." },
    { calls = { FACTORED } },
    { text = "Done." },
  }
  changing(answers, function(child, model)
    child:type("3GVG<Space>ak")
    child:wait("_G.prompting()")
    support.equal(child:lua("return _G.title()"), " Change lines 3–12 ")
    child:type("Simplify it.<CR>")
    child:wait("_G.hunks() == 2")
    child:wait("_G.idle()")
    support.contains(model:last_user(1), "lines 3-12, selected")
    support.contains(model:last_user(1), "Simplify it.")
    support.equal(text(child), CODE, "nothing is in the buffer before it is accepted")
    support.equal(child:lua("return _G.sign()"), vim.NIL)

    child:type("4G<Space>ay")
    child:wait("_G.hunks() == 1")
    local accepted = CODE:gsub("  local area = width %* height\n  return area\n", "  return width * height\n")
    child:wait(("_G.text() == %q"):format(accepted))
    -- The second hunk is still pending, and is what the next instruction is about.
    child:type("8G<Space>ak")
    child:wait("_G.prompting()")
    support.equal(child:lua("return _G.title()"), " Refine the change of lines 3–11 ")
    child:type("Factor it.<CR>")
    child:wait("_G.idle() and #_G.said == 0")
    child:wait([[(function()
      local place = require("azimuth.review.marks").list(_G.code)[1]
      return place and place.item.hunk.newText == "  return 2 * (width + height)\n"
    end)()]])
    support.contains(model:last_user(3), "return 2 * width + 2 * height")
    support.equal(child:lua("return _G.hunks()"), 1, "it is the same proposal")
    child:type("8G<Space>ax")
    child:wait("_G.hunks() == 0")
    support.equal(text(child), accepted)
    child:type("u")
    child:wait(("_G.text() == %q"):format(CODE))
    support.equal(#model.asked, 4)
  end)
end

function T.what_was_accepted_of_a_change_is_undone_and_redone_at_its_lines()
  changing({ { calls = { DOUBLED } }, { text = "Done." } }, function(child)
    instruct(child, "9GV<Space>ak", "Simplify it.")
    child:wait("_G.hunks() == 1 and _G.idle()")
    child:type("9G<Space>ay")
    child:wait(("_G.text():find(%q, 1, true)"):format("  return 2 * width + 2 * height\n"))
    child:wait("_G.hunks() == 0")
    -- The server knows of it a moment after it is in the text.
    child:wait("require('azimuth.change').changed_here() ~= nil")
    for _, step in ipairs({ { "undo", "  return width + width" }, { "redo", "  return 2 * width" } }) do
      child:command("9Azimuth " .. step[1])
      child:wait("vim.api.nvim_win_get_config(0).relative ~= ''")
      child:type("y")
      child:wait(("_G.text():find(%q, 1, true)"):format(step[2]))
      child:wait("vim.api.nvim_get_current_buf() == _G.code")
    end
  end)
end

function T.while_it_runs_a_sign_says_so_and_a_key_cancels()
  local answers = { { calls = { DOUBLED }, call_pieces = 8, hang = true } }
  changing(answers, function(child)
    instruct(child, "8GVj<Space>ak", "Simplify it.")
    child:wait("_G.sign() and _G.sign().words:find('so far', 1, true)")
    support.equal(child:lua("return _G.sign().row"), 7)
    support.contains(child:lua("return _G.sign().words"), "<Space>ac cancels")
    child:type("<Space>ak")
    child:wait("_G.has_said('being changed already')")
    child:type("<Space>ac")
    child:wait("_G.has_said('the change is cancelled')")
    support.equal(child:lua("return _G.sign()"), vim.NIL)
    support.equal(text(child), CODE)
  end)
end

-- The drawing of the edits that arrive: the rows that would go, and the lines that would come below each row.
local DRAWN = [[
  _G.drawn = function()
    local namespace = vim.api.nvim_get_namespaces()["azimuth.change.arriving"]
    local goes, comes = {}, {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(_G.code, namespace, 0, -1, { details = true })) do
      local row, details = mark[2], mark[4]
      for at = row, (details.hl_group == "AzimuthDelete" and details.end_row or row) - 1 do
        table.insert(goes, at)
      end
      for _, line in ipairs(details.virt_lines or {}) do
        local words = vim.iter(line):map(function(chunk) return chunk[1] end):join("")
        table.insert(comes, ("%d: %s"):format(row, (words:gsub("%s+$", ""))))
      end
    end
    table.sort(goes)
    return { goes = goes, comes = comes }
  end
]]

--- Waits until just this is drawn.
---@param child Child
---@param goes integer[]
---@param comes string[]
local function wait_for_drawn(child, goes, comes)
  local wanted = vim.inspect({ goes = goes, comes = comes })
  local ok, problem = pcall(child.wait, child, ("vim.deep_equal(_G.drawn(), %s)"):format(wanted))
  if not ok then
    error(("%s\nis drawn, and not %s\n%s"):format(vim.inspect(child:lua("return _G.drawn()")), wanted, problem), 2)
  end
end

function T.while_it_is_written_the_edit_is_drawn_in_the_text_and_the_hunks_replace_it()
  changing({ { calls = { SHORTER }, call_pieces = 30, pause = 30, held = true }, { text = "Done." } }, function(child, model)
    child:lua(DRAWN)
    child:lua([[
      _G.grown = {}
      local timer = vim.uv.new_timer()
      timer:start(0, 5, vim.schedule_wrap(function()
        local now = #_G.drawn().goes
        if now ~= _G.grown[#_G.grown] then table.insert(_G.grown, now) end
      end))
    ]])
    instruct(child, "4GVj<Space>ak", "Shorten it.")
    wait_for_drawn(child, { 3, 4 }, { "4:   return width * height" })
    support.equal(vim.list_slice(child:lua("return _G.grown"), 1, 3), { 0, 1, 2 }, "line by line")
    support.equal(text(child), CODE, "nothing of it is in the text")
    support.equal(child:lua("return vim.bo[_G.code].modified"), false)
    support.equal(child:lua("return _G.hunks()"), 0)
    support.contains(child:lua("return _G.sign().words"), "<Space>ac cancels")
    model:go_on()
    child:wait("_G.hunks() == 1 and _G.idle()")
    wait_for_drawn(child, {}, {})
  end)
end

function T.what_the_model_repeats_stays_and_is_drawn_as_the_hunk_will_be()
  local body = "  local area = width * height\n  return area\n"
  local checked = replace(body, "  assert(width > 0)\n" .. body)
  changing({ { calls = { checked }, call_pieces = 10, held = true }, { text = "Done." } }, function(child, model)
    child:lua(DRAWN)
    instruct(child, "4GVj<Space>ak", "Check it.")
    wait_for_drawn(child, {}, { "2:   assert(width > 0)" })
    model:go_on()
    child:wait("_G.hunks() == 1 and _G.idle()")
    support.equal(child:lua("return require('azimuth.review.marks').list(_G.code)[1].item.hunk.newText"), "  assert(width > 0)\n")
  end)
end

function T.what_is_drawn_goes_when_the_change_is_cancelled_and_when_the_server_ends()
  local answer = { calls = { DOUBLED }, call_pieces = 8, hang = true }
  changing({ answer, answer }, function(child)
    child:lua(DRAWN)
    instruct(child, "8GVj<Space>ak", "Simplify it.")
    child:wait("#_G.drawn().goes == 1")
    child:type("<Space>ac")
    child:wait("_G.has_said('the change is cancelled')")
    wait_for_drawn(child, {}, {})
    instruct(child, "8GVj<Space>ak", "Simplify it.")
    child:wait("#_G.drawn().goes == 1")
    child:lua([[vim.uv.kill(vim.api.nvim_get_proc_children(vim.fn.getpid())[1], "sigkill")]])
    wait_for_drawn(child, {}, {})
  end)
end

function T.typing_and_undoing_while_it_is_written_moves_and_breaks_nothing()
  changing({ { calls = { DOUBLED }, call_pieces = 40, pause = 15, hang = true } }, function(child)
    child:lua(DRAWN)
    instruct(child, "9GV<Space>ak", "Simplify it.")
    child:wait("#_G.drawn().goes == 1")
    child:type("ggOa<Esc>ob<Esc>")
    wait_for_drawn(child, { 10 }, { "10:   return 2 * width + 2 * height" })
    child:type("uu")
    wait_for_drawn(child, { 8 }, { "8:   return 2 * width + 2 * height" })
    -- The line that the model wants to go is not there any more.
    child:type("9G0x")
    child:wait("#_G.drawn().goes == 1")
    child:type("9GS  return 1<Esc>")
    wait_for_drawn(child, {}, { "8:   return 2 * width + 2 * height" })
    child:type("9GdGggdG")
    child:wait("_G.text() == '\\n'")
    child:wait("#_G.drawn().goes == 0")
    child:type("uuuu")
    wait_for_drawn(child, { 8 }, { "8:   return 2 * width + 2 * height" })
    support.equal(child:lua("return vim.v.errmsg"), "")
    support.equal(child:lua("return #_G.said"), 0)
  end)
end

function T.lines_that_would_come_above_do_not_move_what_is_being_typed()
  changing({ { calls = { DOUBLED }, call_pieces = 8, hang = true } }, function(child)
    child:lua(DRAWN)
    local line = "8:   return 2 * width + 2 * height"
    instruct(child, "9GV<Space>ak", "Simplify it.")
    wait_for_drawn(child, { 8 }, { line })
    child:type("12GA")
    wait_for_drawn(child, { 8 }, {})
    child:type("<Esc>")
    wait_for_drawn(child, { 8 }, { line })
    child:type("4GA")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    child:type(" -- x")
    child:wait("_G.text():find('-- x', 1, true) ~= nil")
    wait_for_drawn(child, { 8 }, { line })
  end)
end

function T.an_edit_of_another_file_is_not_drawn_in_this_one()
  local other = replace("  return area\n", "  return 2\n", "lib/shape.lua")
  changing({ { calls = { other }, call_pieces = 4, hang = true } }, function(child)
    child:lua(DRAWN)
    instruct(child, "3GVG<Space>ak", "Change the other one.")
    child:wait("_G.sign() and _G.sign().words:find('so far', 1, true)")
    support.equal(child:lua("return _G.drawn()"), { goes = {}, comes = {} })
  end)
end

function T.of_a_long_edit_as_much_is_drawn_as_half_of_the_window_holds()
  local lines = {}
  for at = 1, 200 do
    lines[at] = ("  local line_%d = %d"):format(at, at)
  end
  local long = replace("  return area\n", table.concat(lines, "\n") .. "\n")
  changing({ { calls = { long }, call_pieces = 20, hang = true } }, function(child)
    child:lua(DRAWN)
    instruct(child, "4GVj<Space>ak", "Make it long.")
    child:wait("(_G.drawn().comes[#_G.drawn().comes] or ''):find('more lines', 1, true)")
    child:wait("_G.sign().words:find('200 lines', 1, true)")
    local comes = child:lua("return _G.drawn().comes")
    local height = child:lua("return vim.api.nvim_win_get_height(0)")
    support.equal(#comes, math.floor(height / 2) + 1)
    support.equal(comes[1], "4:   local line_1 = 1")
    support.equal(comes[#comes], ("4:  … %d more lines"):format(200 - math.floor(height / 2)))
  end)
end

function T.an_answer_without_hunks_is_shown()
  changing({ { text = "It is right as it is." }, { text = "It is right.\n\nLeave it." } }, function(child)
    instruct(child, "4G<Space>ak", "Is this right?")
    child:wait("_G.has_said('Azimuth: It is right as it is.')")
    child:command("4Azimuth change Are you sure?")
    child:wait("_G.idle()")
    child:wait([[vim.iter(vim.api.nvim_list_wins()):any(function(window)
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      local is_float = vim.api.nvim_win_get_config(window).relative ~= ""
      return is_float and lines[1] == "It is right." and vim.tbl_contains(lines, "Leave it.")
    end)]])
  end)
end

function T.a_failure_is_said_and_what_is_refused_can_be_sent_again()
  changing({}, function(child)
    child:command("enew")
    child:type("<Space>ak")
    child:wait("_G.has_said('this buffer is no file')")
    child:command("buffer " .. child:lua("return _G.code"))
    instruct(child, "4G<Space>ak", "Change it.")
    child:wait("_G.has_said('nobody')")
    support.equal(child:lua("return #require('azimuth.client').kept()"), 0)
    child:type("<Space>ak")
    child:wait("_G.prompting() and vim.api.nvim_get_current_line() == 'Change it.'")
    support.equal(child:lua("return _G.title()"), " Write at line 4 ")
  end, { settings = 'instruct_model = "nobody/nothing"' })
end

function T.a_turn_that_fails_says_why_and_can_be_tried_again()
  changing({ { status = "401 Unauthorized" }, { calls = { DOUBLED } }, { text = "Done." } }, function(child)
    instruct(child, "9GV<Space>ak", "Simplify it.")
    child:wait("_G.has_said('the change failed: ')")
    support.equal(child:lua("return _G.sign()"), vim.NIL)
    child:type("9G<Space>ak")
    child:wait("_G.prompting()")
    child:type("<Up>")
    child:wait("vim.api.nvim_get_current_line() == 'Simplify it.'")
    child:type("<CR>")
    child:wait("_G.hunks() == 1 and _G.idle()")
  end)
end

function T.hunks_in_other_files_are_told_and_reviewed()
  local other = replace("return 1\n", "return 2\n", "other.lua")
  changing({ { calls = { DOUBLED, other } }, { text = "Done." } }, function(child)
    instruct(child, "9GV<Space>ak", "Simplify it, and the other file.")
    child:wait("_G.has_said('there are hunks in other.lua, too')")
    child:command("edit other.lua")
    child:wait("#require('azimuth.review.marks').list(vim.api.nvim_get_current_buf()) == 1")
    child:type("<Space>ay")
    child:wait("vim.api.nvim_get_current_line() == 'return 2'")
    support.equal(child:lua("return _G.hunks()"), 1)
  end)
end

function T.the_cursor_a_part_a_block_and_the_whole_file_are_told_as_such()
  local answers = {}
  for at = 1, 4 do
    answers[at] = { text = "There is nothing to do." }
  end
  changing(answers, function(child, model)
    local function asked(keys, title)
      child:type(keys)
      child:wait("_G.prompting()")
      support.equal(child:lua("return _G.title()"), title)
      local before = #model.asked
      child:type("Look.<CR>")
      vim.wait(10000, function()
        return #model.asked > before
      end, 10)
      child:wait("_G.idle()")
      return model:last_user(before + 1)
    end
    support.contains(asked("2G<Space>ak", " Write at line 2 "), "line 2, with the cursor")
    local part = asked("4G0wwwwveee<Space>ak", " Change “width * height” ")
    support.contains(part, "exactly this is selected:\n```\nwidth * height")
    local block = asked("8G0<C-v>j3l<Space>ak", " Change 2 selections in lines 8–9 ")
    support.contains(block, "exactly this is selected:\n```\nfunc\n```")
    support.contains(block, "exactly this is selected:\n```\n  re\n```")
    support.contains(asked("12GVgg<Space>ak", " Change the whole file "), "shape.lua, all of it")
  end)
end

function T.the_prompt_has_a_history_and_keeps_what_was_not_sent()
  changing({ { text = "No." }, { text = "No." } }, function(child)
    instruct(child, "4G<Space>ak", "First.")
    child:wait("_G.idle()")
    child:type("<Space>akunfinished")
    child:wait("_G.prompting() and vim.api.nvim_get_current_line() == 'unfinished'")
    child:type("<C-c>")
    child:wait("vim.api.nvim_get_current_buf() == _G.code and vim.api.nvim_get_mode().mode == 'n'")
    support.equal(child:lua("return vim.api.nvim_win_get_cursor(0)"), { 4, 0 })
    child:type("<Space>ak")
    child:wait("_G.prompting() and vim.api.nvim_get_current_line() == 'unfinished'")
    child:type("<Up>")
    child:wait("vim.api.nvim_get_current_line() == 'First.'")
    child:type("<Down>")
    child:wait("vim.api.nvim_get_current_line() == 'unfinished'")
  end)
end

function T.a_prompt_that_is_closed_as_any_window_keeps_its_words()
  changing({}, function(child)
    for at, close in ipairs({ "quit", "bwipeout!", "close", "wincmd p" }) do
      local words = "unfinished " .. at
      child:type("4G<Space>ak")
      child:wait("_G.prompting()")
      child:type("<C-u>" .. words)
      child:wait(("vim.api.nvim_get_current_line() == %q"):format(words))
      child:type("<C-\\><C-n>:" .. close .. "<CR>")
      child:wait("vim.api.nvim_get_current_buf() == _G.code and #vim.api.nvim_list_wins() == 1")
      support.equal(child:lua("return vim.trim(vim.fn.execute('messages'))"), "", close)
      child:type("<Space>ak")
      child:wait(("_G.prompting() and vim.api.nvim_get_current_line() == %q"):format(words))
      child:type("<C-c>")
      child:wait("vim.api.nvim_get_current_buf() == _G.code and vim.api.nvim_get_mode().mode == 'n'")
    end
  end)
end

function T.in_a_folder_without_trust_the_question_is_answered_first()
  changing({ { calls = { DOUBLED } }, { text = "Done." } }, function(child)
    instruct(child, "9GV<Space>ak", "Simplify it.")
    child:wait_for_question()
    child:wait("_G.sign() and _G.sign().words:find('Azimuth asks', 1, true)")
    child:lua([[
      local permission = require("azimuth.permission")
      local question = permission.open()[1]
      permission.answer(question, question.request.options[1])
    ]])
    child:wait("_G.hunks() == 1 and _G.idle()")
  end, { asks_trust = true })
end

function T.it_goes_on_in_the_chat()
  changing({ { calls = { DOUBLED } }, { text = "Done." }, { text = "They are fine." } }, function(child, model)
    instruct(child, "9GV<Space>ak", "Simplify it.")
    child:wait("_G.hunks() == 1 and _G.idle()")
    child:type("<Space>ak")
    child:wait("_G.prompting()")
    child:type("And its callers?<C-g>")
    child:wait_for("Simplify it.")
    child:wait("require('azimuth.input').text() == 'And its callers?'")
    support.equal(child:lua("return #require('azimuth.client').kept()"), 0)
    support.equal(child:lua("return _G.hunks()"), 1, "its hunk is still there")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    child:type("<C-s>")
    child:wait_for("They are fine.")
    support.contains(vim.json.encode(model.asked[3].tools), "shell_run")
  end)
end

function T.several_changes_are_reviewed_at_once_and_a_decided_one_is_closed_with_the_next()
  local done = { text = "Done." }
  local answers = { { calls = { SHORTER } }, done, { calls = { DOUBLED } }, done, { text = "No." } }
  changing(answers, function(child)
    instruct(child, "4GVj<Space>ak", "Shorten it.")
    child:wait("_G.hunks() == 1 and _G.idle()")
    instruct(child, "9GV<Space>ak", "Simplify it.")
    child:wait("_G.hunks() == 2 and _G.idle()")
    support.equal(child:lua("return #require('azimuth.client').kept()"), 2)
    child:command("Azimuth accept all")
    child:wait("_G.hunks() == 0")
    child:wait(("_G.text():find(%q, 1, true)"):format("  return 2 * width + 2 * height\n"))
    child:wait(("not _G.text():find(%q, 1, true)"):format("local area"))
    instruct(child, "1G<Space>ak", "Anything else?")
    child:wait("_G.has_said('Azimuth: No.')")
    support.equal(child:lua("return #require('azimuth.client').kept()"), 1)
    child:command("bdelete!")
    support.equal(child:lua("return #require('azimuth.client').kept()"), 0)
  end)
end

function T.a_code_action_asks_for_the_words()
  changing({ { calls = { DOUBLED } }, { text = "Done." } }, function(child, model)
    child:lua("require('azimuth.client').start()")
    child:wait("require('azimuth.client').lsp_client() ~= nil")
    child:wait("vim.lsp.buf_is_attached(0, require('azimuth.client').lsp_client().id)")
    child:lua([[
      vim.ui.select = function(items, options, choose)
        local wanted = vim.iter(items):find(function(item)
          return options.format_item(item):find("change this", 1, true) ~= nil
        end)
        choose(wanted)
      end
    ]])
    child:type("9GV")
    child:wait("vim.fn.mode() == 'V'")
    child:lua("vim.lsp.buf.code_action()")
    child:wait("_G.prompting()")
    support.equal(child:lua("return _G.title()"), " Change line 9 ")
    child:type("Simplify it.<CR>")
    child:wait("_G.hunks() == 1 and _G.idle()")
    support.contains(model:last_user(1), "line 9, selected")
  end)
end

--- The instructions that are kept for the next Neovim.
---@param place Place
---@return string[]
local function kept(place)
  return vim.fn.glob(place.home .. "/state/*/azimuth/change-*.json", true, true)
end

function T.what_is_undecided_is_found_again_after_a_restart_of_neovim()
  local answers = { { calls = { SHORTER } }, { text = "Done." }, { calls = { DOUBLED } }, { text = "Done." } }
  table.insert(answers, { calls = { FACTORED } })
  table.insert(answers, { text = "Done." })
  changing(answers, function(first, model, place)
    instruct(first, "4GVj<Space>ak", "Shorten it.")
    first:wait("_G.hunks() == 1 and _G.idle()")
    first:command("Azimuth accept all")
    first:wait("_G.hunks() == 0 and not _G.text():find('local area', 1, true)")
    instruct(first, "8GV<Space>ak", "Simplify it.")
    first:wait("_G.hunks() == 1 and _G.idle()")
    first:command("silent write")
    support.equal(#kept(place), 1, "of the decided one, nothing is kept")
    first:stop()
    local second = support.start(place)
    local ok, problem = xpcall(function()
      second:lua("require('azimuth.client').start()")
      second:wait("#require('azimuth.client').kept() == 1")
      second:command("edit shape.lua")
      second:lua(PREPARED)
      second:wait("_G.hunks() == 1")
      support.equal(second:lua("return #require('azimuth.client').kept()"), 1)
      second:type("8G<Space>ak")
      second:wait("_G.prompting()")
      support.equal(second:lua("return _G.title()"), " Refine the change of line 8 ")
      second:type("Factor it.<CR>")
      second:wait("_G.idle() and vim.fn.mode() == 'n'")
      vim.wait(10000, function()
        return #model.asked == 6
      end, 10)
      second:wait("_G.idle() and _G.hunks() == 1")
      second:type("8G<Space>ay")
      second:wait(("_G.text():find(%q, 1, true)"):format("  return 2 * (width + height)\n"))
      second:wait("_G.hunks() == 0")
      second:command("bdelete!")
      support.equal(kept(place), {})
    end, debug.traceback)
    second:stop()
    assert(ok, problem)
  end)
end

function T.after_a_crash_of_neovim_a_new_one_finds_the_hunks()
  changing({ { calls = { DOUBLED } }, { text = "Done." } }, function(first, _, place)
    instruct(first, "9GV<Space>ak", "Simplify it.")
    first:wait("_G.hunks() == 1 and _G.idle()")
    vim.uv.kill(vim.fn.jobpid(first.channel), "sigkill")
    local second = support.start(place)
    local ok, problem = xpcall(function()
      second:command("edit shape.lua")
      second:lua(PREPARED)
      second:lua("require('azimuth.client').start()")
      second:wait("_G.hunks() == 1")
      second:type("9G<Space>ay")
      second:wait(("_G.text():find(%q, 1, true)"):format("  return 2 * width + 2 * height\n"))
    end, debug.traceback)
    second:stop()
    assert(ok, problem)
    support.equal(kept(place), {})
  end)
end

function T.after_its_buffer_was_closed_and_opened_again_a_change_is_refined_at_its_lines()
  local answers = { { calls = { DOUBLED } }, { text = "Done." }, { text = "No." }, { text = "No." } }
  changing(answers, function(child, model)
    instruct(child, "9GV<Space>ak", "Simplify it.")
    child:wait("_G.hunks() == 1 and _G.idle()")
    for at, close in ipairs({ "bdelete", "bwipeout" }) do
      child:command(close .. " | edit shape.lua")
      child:lua(PREPARED)
      child:wait("_G.hunks() == 1")
      instruct(child, "9G<Space>ak", "And now?")
      child:wait("_G.idle()")
      vim.wait(10000, function()
        return #model.asked == 2 + at
      end, 10)
      child:wait("_G.idle()")
      support.contains(model:last_user(2 + at), "line 9, selected")
    end
  end)
end

function T.after_a_crash_of_the_server_the_hunks_can_still_be_decided()
  changing({ { calls = { DOUBLED } }, { text = "Done." } }, function(child)
    instruct(child, "9GV<Space>ak", "Simplify it.")
    child:wait("_G.hunks() == 1 and _G.idle()")
    child:lua([[
      _G.first = require("azimuth.client").lsp_client().id
      local pid = vim.api.nvim_get_proc_children(vim.fn.getpid())[1]
      vim.uv.kill(pid, "sigkill")
    ]])
    child:wait("require('azimuth.client').lsp_client() and require('azimuth.client').lsp_client().id ~= _G.first")
    child:wait("_G.hunks() == 1")
    child:type("9G<Space>ay")
    child:wait(("_G.text():find(%q, 1, true)"):format("  return 2 * width + 2 * height\n"))
  end)
end

return T
