--- Review, end to end: a real Neovim, the real server, a model that proposes edits.

local models = require("model")
local support = require("support")

local T = {}

local source = {}
for line = 1, 30 do
  source[line] = ("local value_%02d = %d"):format(line, line)
end
local file = table.concat(source, "\n") .. "\n"

---@param line integer
---@param more? string
local function replace(line, more)
  return {
    name = "edit_replace_exact",
    input = {
      path = "src/values.lua",
      old_text = source[line] .. "\n",
      new_text = ("local value_%02d = %d\n"):format(line, line * 100) .. (more or ""),
    },
  }
end

---@return Answer[]
local function three_hunks()
  return {
    { calls = { { name = "read_file", input = { path = "src/values.lua" } } } },
    { calls = { replace(5), replace(15, "local extra = 1\n"), replace(25) } },
    { text = "Three hunks wait." },
    { text = "Seen." },
    { text = "Seen." },
  }
end

--- A Neovim with a file open that has unsaved text, and these answers to one prompt.
---@param answers Answer[]
---@param test fun(child: Child, model: Model, place: Place)
---@param options? { files?: table<string, string>, columns?: integer, lines?: integer, no_edit?: boolean, answer_is?: string, settings?: string }
local function review(answers, test, options)
  options = options or {}
  local place = support.place(vim.tbl_extend("force", { ["src/values.lua"] = file }, options.files or {}))
  local model = models.start(answers)
  support.use_model(place, model, options.settings)
  local child = support.start(place, options)
  local ok, problem = xpcall(function()
    child:command("edit src/values.lua")
    if not options.no_edit then
      child:lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { '-- never saved' })")
    end
    child:lua("_G.bufnr = vim.api.nvim_get_current_buf()")
    child:open_chat()
    child:prompt("Change it.")
    child:wait_for(options.answer_is or "Three hunks wait.")
    child:wait("require('azimuth.client').state().running == nil")
    child:command("stopinsert | Azimuth chat")
    child:wait("vim.api.nvim_get_current_buf() == _G.bufnr and vim.api.nvim_get_mode().mode == 'n'")
    test(child, model, place)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

---@param child Child
---@return string
local function text(child)
  return child:lua("return table.concat(vim.api.nvim_buf_get_lines(_G.bufnr, 0, -1, false), '\\n')")
end

--- The open hunks as shown: the rows, from 1, and the added lines.
---@param child Child
local function shown(child)
  return child:lua([[
    local list = {}
    for _, place in ipairs(require("azimuth.review.marks").list(_G.bufnr)) do
      table.insert(list, { place.row + 1, place.item.hunk.state })
    end
    return list
  ]])
end

---@param child Child
---@return string[]
local function virtual_lines(child)
  return child:lua([[
    local lines = {}
    local namespace = vim.api.nvim_get_namespaces()["azimuth.review"]
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(_G.bufnr, namespace, 0, -1, { details = true })) do
      for _, line in ipairs(mark[4].virt_lines or {}) do
        local text = ""
        for _, chunk in ipairs(line) do
          text = text .. chunk[1]
        end
        table.insert(lines, vim.trim(text))
      end
    end
    return lines
  ]])
end

---@param child Child
---@param count integer
local function wait_for_hunks(child, count)
  child:wait(("#require('azimuth.review.marks').list(_G.bufnr) == %d"):format(count))
end

--- Waits until the session says something, be the chat open or not.
---@param child Child
---@param part string
local function wait_until_told(child, part)
  child:wait(([[vim.iter(require("azimuth.client").state().entries):any(function(entry)
    return entry and (entry.text or ""):find(%q, 1, true) ~= nil
  end)]]):format(part))
end

---@param child Child
---@param line integer From 1.
local function cursor(child, line)
  child:lua("vim.api.nvim_win_set_cursor(0, { ..., 0 })", line)
end

--- The buffer's text with some lines in place of others.
---@param changes table<integer, string>
local function expected(changes)
  local lines = { "-- never saved" }
  for line = 1, 30 do
    table.insert(lines, changes[line] or source[line])
  end
  return table.concat(lines, "\n")
end

local function accept_one_and_three(child)
  cursor(child, 6)
  child:type("<Space>ay")
  wait_for_hunks(child, 2)
  cursor(child, 16)
  child:type("<Space>ax")
  wait_for_hunks(child, 1)
  cursor(child, 26)
  child:type("<Space>ay")
  wait_for_hunks(child, 0)
  child:wait([[vim.iter(require("azimuth.client").state().proposals):all(function(_, proposal)
    return vim.iter(proposal.hunks):all(function(hunk) return hunk.state ~= "applying" end)
  end)]])
end

function T.three_hunks_are_shown_and_each_accept_is_one_undo_step()
  review(three_hunks(), function(child, model, place)
    wait_for_hunks(child, 3)
    support.equal(shown(child), { { 6, "pending" }, { 16, "pending" }, { 26, "pending" } })
    support.equal(virtual_lines(child), {
      "local value_05 = 500",
      "local value_15 = 1500",
      "local extra = 1",
      "local value_25 = 2500",
    })
    support.equal(text(child), expected({}), "nothing is changed by showing")
    accept_one_and_three(child)
    local both = expected({ [5] = "local value_05 = 500", [25] = "local value_25 = 2500" })
    support.equal(text(child), both)
    support.equal(child:lua("return vim.bo[_G.bufnr].modified"), true)
    support.equal(support.read(place.project .. "/src/values.lua"), file, "unsaved text stays unsaved")
    child:command("undo")
    support.equal(text(child), expected({ [5] = "local value_05 = 500" }))
    child:command("undo")
    support.equal(text(child), expected({}))
    child:command("redo")
    child:command("redo")
    support.equal(text(child), both)
    child:prompt("Go on.")
    child:wait_for("Seen.")
    support.contains(vim.json.encode(model.asked[#model.asked].messages), "reject")
  end)
end

function T.the_cursor_stays_in_the_hunk_that_is_accepted()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    child:command("split")
    child:lua("vim.api.nvim_win_set_cursor(vim.fn.win_getid(2), { 20, 2 })")
    child:lua("vim.api.nvim_win_set_cursor(0, { 16, 9 })")
    child:command("Azimuth accept file")
    wait_for_hunks(child, 0)
    child:wait("vim.fn.getline(17) == 'local extra = 1'")
    support.equal(child:lua("return { vim.api.nvim_win_get_cursor(0), vim.api.nvim_win_get_cursor(vim.fn.win_getid(2)) }"), {
      { 16, 9 },
      { 21, 2 },
    })
  end)
end

function T.accepts_with_no_key_between_them_are_steps_of_their_own()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    child:lua([[
      local state = require("azimuth.client").state()
      local proposal = state.proposals[state.proposal_order[1] ]
      for _, hunk in ipairs(proposal.hunks) do
        require("azimuth.review.decide").decide("accept", require("azimuth.review.decide").targets({ { proposal = proposal, hunk = hunk } }))
      end
    ]])
    wait_for_hunks(child, 0)
    child:wait("vim.fn.getline(27) == 'local value_25 = 2500'")
    child:command("undo")
    child:command("undo")
    support.equal(text(child), expected({ [5] = "local value_05 = 500" }))
  end)
end

function T.neither_cursor_nor_view_move()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    child:lua("vim.fn.winrestview({ lnum = 25, col = 3, topline = 20 })")
    local function at()
      return child:lua([[
        local view = vim.fn.winsaveview()
        return { view.lnum, view.col, vim.fn.getline(view.topline), vim.fn.getline(".") }
      ]])
    end
    local before = at()
    child:lua([[
      _G.noted = 0
      require("azimuth.client").on("proposalChanged", function(_, event)
        local states = {}
        for _, hunk in ipairs(event.proposal.hunks) do
          states[hunk.state] = true
        end
        _G.noted = _G.noted + (vim.tbl_count(states) > 1 and 1 or 0)
      end)
    ]])
    child:command("Azimuth accept all")
    wait_for_hunks(child, 0)
    child:wait("vim.fn.getline(17) == 'local extra = 1'")
    support.equal(at(), { 26, before[2], before[3], before[4] })
    child:wait([[vim.iter(require("azimuth.client").state().proposals):all(function(_, proposal)
      return proposal.hunks[1].state == "accepted"
    end)]])
    support.equal(child:lua("return _G.noted"), 0, "the server saw one change")
    child:command("undo")
    support.equal(text(child), expected({}), "one decision is one step")
  end, { lines = 20 })
end

function T.an_accept_while_the_user_types_is_a_step_of_its_own()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    cursor(child, 1)
    child:type("A one")
    child:wait("vim.fn.getline(1) == '-- never saved one'")
    child:lua([[
      local proposal = require("azimuth.client").state().proposals[require("azimuth.client").state().proposal_order[1] ]
      require("azimuth.review.decide").decide("accept", { {
        proposalId = proposal.proposalId, revision = proposal.revision, hunkIds = { proposal.hunks[1].hunkId },
      } })
    ]])
    child:wait("vim.fn.getline(6) == 'local value_05 = 500'")
    support.equal(child:lua("return { vim.api.nvim_get_mode().mode, vim.api.nvim_win_get_cursor(0) }"), { "i", { 1, 18 } })
    child:type(" two<Esc>")
    child:wait("vim.fn.getline(1) == '-- never saved one two'")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    child:command("undo")
    support.equal(child:lua("return { vim.fn.getline(1), vim.fn.getline(6) }"), { "-- never saved one", "local value_05 = 500" })
    child:command("undo")
    support.equal(child:lua("return { vim.fn.getline(1), vim.fn.getline(6) }"), { "-- never saved one", "local value_05 = 5" })
  end)
end

function T.hunks_move_with_what_the_user_types_and_conflict_with_changed_lines()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    cursor(child, 1)
    child:type("oa line<CR>another<Esc>")
    support.equal(shown(child)[1][1], 8)
    child:wait([[(function()
      local state = require("azimuth.client").state()
      return state.proposals[state.proposal_order[1] ].hunks[1].startLine == 7
    end)()]])
    child:wait("require('azimuth.review.marks').list(_G.bufnr)[3].row == 27")
    support.equal(shown(child), { { 8, "pending" }, { 18, "pending" }, { 28, "pending" } })
    -- Its own line is changed.
    cursor(child, 18)
    child:type("A + 0<Esc>")
    child:wait("require('azimuth.review.marks').list(_G.bufnr)[2].item.hunk.state == 'conflicted'")
    support.contains(table.concat(virtual_lines(child), "\n"), "the text above has changed")
    child:type("<Space>ay")
    child:wait("#_G.said > 0")
    support.contains(vim.inspect(child:lua("return _G.said")), "in conflict cannot be accepted")
    support.equal(#shown(child), 3)
    -- As it was, it is pending again.
    child:command("undo")
    child:wait("require('azimuth.review.marks').list(_G.bufnr)[2].item.hunk.state == 'pending'")
    -- The hunks above and below are accepted all the same.
    child:command("1,12Azimuth accept")
    child:wait("vim.fn.getline(8) == 'local value_05 = 500'")
    wait_for_hunks(child, 2)
  end)
end

function T.a_decision_on_an_old_revision_decides_nothing()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    child:lua([[
      local state = require("azimuth.client").state()
      local id = state.proposal_order[1]
      state.proposals[id].revision = state.proposals[id].revision - 1
    ]])
    cursor(child, 6)
    child:command("Azimuth accept")
    child:wait([[vim.iter(_G.said):any(function(said) return said[1]:find("Nothing was decided", 1, true) end)]])
    support.equal(text(child), expected({}))
    child:command("Azimuth accept")
    child:wait("vim.fn.getline(6) == 'local value_05 = 500'")
  end)
end

function T.the_keys_are_there_with_the_hunks_and_go_with_them()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    cursor(child, 1)
    child:type("]a")
    child:wait("vim.fn.line('.') == 6")
    child:type("]a]a")
    child:wait("vim.fn.line('.') == 26")
    child:type("]a")
    child:wait("vim.fn.line('.') == 6")
    child:type("[a")
    child:wait("vim.fn.line('.') == 26")
    child:type("Vgg<Space>ay")
    wait_for_hunks(child, 0)
    child:wait("vim.fn.getline(27) == 'local value_25 = 2500'")
    support.equal(child:lua("return vim.fn.maparg(']a', 'n', false, true).buffer or 0"), 0)
  end)
end

function T.keys_of_the_user_and_without_mappings_are_left_alone()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    support.equal(child:lua("return vim.fn.maparg(']a', 'n', false, true).buffer or 0"), 0)
    support.equal(child:lua("return vim.fn.maparg('<Space>aw', 'n') .. vim.fn.maparg('<Space>aw', 'x')"), "")
    child:command("Azimuth next")
    support.equal(child:lua("return vim.fn.line('.')"), 6)
  end, { setup = "{ mappings = false }" })
end

function T.a_reason_is_asked_for_and_told()
  review(three_hunks(), function(child, model)
    wait_for_hunks(child, 3)
    child:lua("vim.ui.input = function(options, done) _G.prompted = options.prompt; done('keep the small numbers') end")
    cursor(child, 6)
    child:command("Azimuth! reject")
    wait_for_hunks(child, 2)
    support.equal(child:lua("return _G.prompted"), "Reject, because: ")
    child:command("Azimuth reject file no more of this")
    wait_for_hunks(child, 0)
    support.equal(text(child), expected({}))
    child:prompt("Go on.")
    child:wait_for("Seen.")
    local told = vim.json.encode(model.asked[#model.asked].messages)
    support.contains(told, "keep the small numbers")
    support.contains(told, "no more of this")
  end)
end

function T.a_comment_decides_nothing_stands_below_its_hunk_and_is_told()
  review(three_hunks(), function(child, model)
    wait_for_hunks(child, 3)
    support.equal(child:lua("return vim.fn.getcompletion('Azimuth comm', 'cmdline')"), { "comment" })
    cursor(child, 6)
    child:command("Azimuth comment why not [a constant]?")
    child:wait("#_G.said > 0")
    support.contains(vim.inspect(child:lua("return _G.said")), "Nothing is decided yet")
    child:lua([[vim.ui.input = function(options, done) _G.prompted = options.prompt; done("two\nlines") end]])
    cursor(child, 16)
    child:type("<Space>aw")
    child:wait("#_G.said > 1")
    support.equal(child:lua("return _G.prompted"), "Comment: ")
    child:wait([[(require("azimuth.review.marks").list(_G.bufnr)[2].item.hunk.comments or {})[1] == "two\nlines"]])
    support.equal(virtual_lines(child), {
      "local value_05 = 500",
      "You: why not [a constant]?",
      "local value_15 = 1500",
      "local extra = 1",
      "You: two",
      "lines",
      "local value_25 = 2500",
    })
    support.equal(shown(child), { { 6, "pending" }, { 16, "pending" }, { 26, "pending" } })
    support.equal(text(child), expected({}))
    child:prompt("Go on.")
    child:wait_for("Seen.")
    local told = vim.json.encode(model.asked[#model.asked].messages)
    support.contains(told, "why not [a constant]?")
    support.contains(told, "which this does not decide")
    support.contains(told, "two\\nlines")
  end)
end

function T.without_words_or_a_hunk_nothing_is_said_to_the_model()
  review(three_hunks(), function(child, model)
    wait_for_hunks(child, 3)
    child:lua("_G.asked = 0; vim.ui.input = function(_, done) _G.asked = _G.asked + 1; done(nil) end")
    cursor(child, 6)
    child:command("Azimuth comment")
    support.equal(child:lua("return { _G.asked, #_G.said }"), { 1, 0 })
    cursor(child, 1)
    child:command("Azimuth comment of what?")
    support.contains(vim.inspect(child:lua("return _G.said")), "no hunk is here")
    child:prompt("Go on.")
    child:wait_for("Seen.")
    support.lacks(vim.json.encode(model.asked[#model.asked].messages), "does not decide")
  end)
end

function T.a_second_window_sees_the_same_hunks_and_decides_for_both()
  review(three_hunks(), function(child, _, place)
    wait_for_hunks(child, 3)
    local second = support.start(place)
    local ok, problem = xpcall(function()
      second:command("edit src/values.lua")
      second:lua("_G.bufnr = vim.api.nvim_get_current_buf()")
      second:open_chat()
      support.equal(second:lua("return require('azimuth.client').session()"), child:lua("return require('azimuth.client').session()"))
      wait_for_hunks(second, 3)
      second:command("stopinsert | Azimuth chat")
      second:wait("vim.api.nvim_get_current_buf() == _G.bufnr")
      second:command("%Azimuth comment seen from here")
      child:wait("(require('azimuth.review.marks').list(_G.bufnr)[3].item.hunk.comments or {})[1] == 'seen from here'")
      support.equal(#vim.tbl_filter(function(line)
        return line == "You: seen from here"
      end, virtual_lines(child)), 3)
      second:command("Azimuth reject file")
      wait_for_hunks(second, 0)
      wait_for_hunks(child, 0)
      support.equal(text(child), expected({}))
    end, debug.traceback)
    second:stop()
    if not ok then
      error(problem, 0)
    end
  end)
end

function T.closing_the_diff_decides_nothing_and_do_accepts()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    child:command("Azimuth diff")
    child:wait("vim.fn.tabpagenr('$') == 2")
    child:wait("vim.wo.diff")
    support.equal(child:lua([[
      local names = {}
      for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        table.insert(names, (vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window)):gsub("^.*/", "")))
      end
      return names
    ]]), { "values.lua", "values.lua" })
    support.equal(virtual_lines(child), {}, "the diff shows the hunks")
    child:command("tabclose")
    child:wait([[#vim.tbl_filter(function(bufnr)
      return vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_name(bufnr):find("azimuth%-review:")
    end, vim.api.nvim_list_bufs()) == 0]])
    wait_for_hunks(child, 3)
    child:wait("vim.fn.maparg('do', 'n') == ''")
    support.equal(text(child), expected({}))
    support.equal(child:lua("return vim.wo.diff"), false)
    child:wait([[#vim.api.nvim_buf_get_extmarks(_G.bufnr, vim.api.nvim_get_namespaces()["azimuth.review"], 0, -1, {}) > 3]])

    child:command("Azimuth diff")
    child:wait("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")
    cursor(child, 6)
    child:type("do")
    wait_for_hunks(child, 2)
    child:wait("vim.fn.getline(6) == 'local value_05 = 500'")
    child:command("wincmd l")
    cursor(child, 26)
    child:wait("vim.fn.getline(27) == 'local value_25 = 2500' or vim.fn.getline(26) == 'local value_25 = 2500'")
    cursor(child, child:lua("return vim.fn.search('value_25 = 2500', 'n')"))
    child:type("dp")
    wait_for_hunks(child, 1)
    child:type("<C-w>h")
    cursor(child, 16)
    child:type("dp")
    wait_for_hunks(child, 0)
    child:wait("vim.fn.getline(26) == 'local value_25 = 2500'")
    support.equal(text(child), expected({ [5] = "local value_05 = 500", [25] = "local value_25 = 2500" }))
    child:command("tabclose")
  end)
end

function T.writing_the_proposed_text_changes_the_proposal()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    child:command("Azimuth diff")
    child:wait("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")
    child:command("wincmd l")
    child:lua("vim.api.nvim_buf_set_lines(0, 5, 6, false, { 'local value_05 = 555' })")
    child:command("write")
    child:wait([[vim.iter(_G.said):any(function(said) return said[1]:find("the proposal is changed", 1, true) or said[1]:find("newer server", 1, true) end)]])
    local said = vim.inspect(child:lua("return _G.said"))
    support.lacks(said, "newer server")
    child:wait("not vim.bo.modified")
    support.equal(text(child), expected({}), "nothing is decided")
    child:command("tabclose")
    child:wait("vim.api.nvim_get_current_buf() == _G.bufnr")
    child:command("Azimuth accept file")
    wait_for_hunks(child, 0)
    child:wait("vim.fn.getline(6) == 'local value_05 = 555'")
  end)
end

local function two_files()
  local answers = three_hunks()
  answers[2].calls = {
    replace(5),
    { name = "edit_create_file", input = { path = "src/new.lua", text = "return 1\nreturn 2\n", content = "return 1\nreturn 2\n" } },
    { name = "edit_replace_exact", input = { path = "other.txt", old_text = "two\n", new_text = "TWO\n" } },
  }
  answers[1].calls[2] = { name = "read_file", input = { path = "other.txt" } }
  answers[2].calls[2].input.text = nil
  return answers
end

function T.all_files_are_listed_and_review_goes_through_them()
  review(two_files(), function(child, _, place)
    wait_for_hunks(child, 1)
    child:command("Azimuth hunks")
    local list = child:lua([[
      return vim.tbl_map(function(item)
        return { (vim.api.nvim_buf_get_name(item.bufnr):gsub("^.*/", "")), item.lnum, item.text }
      end, vim.fn.getqflist())
    ]])
    support.equal(list, {
      { "values.lua", 6, "-1 +1  local value_05 = 500" },
      { "new.lua", 1, "new file, 2 lines  return 1" },
      { "other.txt", 2, "-1 +1  TWO" },
    })
    support.equal(child:lua("return vim.bo.buftype"), "quickfix")
    child:command("cclose")
    child:command("Azimuth review")
    child:wait("vim.fn.expand('%:t') == 'new.lua' and vim.fn.getline(2) == 'return 2'")
    support.equal(child:lua("return { vim.bo.buftype, vim.bo.filetype, vim.bo.modified }"), { "acwrite", "lua", false })
    child:type("]a")
    child:wait("vim.fn.expand('%:t') == 'other.txt' and vim.fn.line('.') == 2")
    child:command("Azimuth accept")
    child:wait("vim.fn.getline(2) == 'TWO'")
    child:command("undo")
    support.equal(child:lua("return vim.fn.getline(2)"), "two")
    child:command("redo")
    child:command("Azimuth accept all")
    child:wait("#vim.fn.getqflist() == 0")
    child:wait("vim.uv.fs_stat('src/new.lua')")
    support.equal(support.read(place.project .. "/src/new.lua"), "return 1\nreturn 2\n")
    child:command("edit src/new.lua")
    child:wait("vim.fn.getline(1) == 'return 1' and vim.fn.line('$') == 2")
  end, { files = { ["other.txt"] = "one\ntwo\nthree\n" } })
end

function T.a_new_file_is_changed_and_accepted_where_it_is_shown()
  review(two_files(), function(child, _, place)
    child:command("Azimuth hunks")
    child:command("cc 2")
    child:wait("vim.fn.getline(2) == 'return 2'")
    support.contains(child:lua("return vim.wo.winbar"), "new file")
    child:lua("vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'return 3' })")
    child:command("Azimuth accept")
    support.contains(vim.inspect(child:lua("return _G.said")), "Write it first")
    child:command("write")
    child:wait("not vim.bo.modified")
    support.equal(vim.uv.fs_stat(place.project .. "/src/new.lua"), nil)
    child:command("Azimuth accept")
    child:wait("vim.bo.buftype == '' and vim.fn.expand('%:t') == 'new.lua' and vim.fn.line('$') == 2")
    support.equal(support.read(place.project .. "/src/new.lua"), "return 1\nreturn 3\n")
    support.equal(child:lua("return vim.fn.getline(2)"), "return 3")
  end, { files = { ["other.txt"] = "one\ntwo\nthree\n" } })
end

function T.long_lines_are_wrapped_beside_the_signs_that_come_with_them()
  local answers = three_hunks()
  local long = ("word_%d "):rep(20):gsub("%%d", "x")
  answers[2].calls = { replace(5, "-- " .. long .. "\n") }
  review(answers, function(child)
    wait_for_hunks(child, 1)
    child:command("redraw")
    local function widths()
      return child:lua([[
        local namespace = vim.api.nvim_get_namespaces()["azimuth.review"]
        local info = vim.fn.getwininfo(vim.fn.bufwinid(_G.bufnr))[1]
        local fits = true
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(_G.bufnr, namespace, 0, -1, { details = true })) do
          for _, line in ipairs(mark[4].virt_lines or {}) do
            local width = 0
            for _, chunk in ipairs(line) do
              width = width + vim.fn.strdisplaywidth(chunk[1])
            end
            fits = fits and width == info.width - info.textoff
          end
        end
        return { fits, info.textoff }
      ]])
    end
    assert(vim.wait(2000, function()
      child:command("redraw")
      return vim.deep_equal(widths(), { true, 2 })
    end, 20), vim.inspect(widths()))
    support.contains(table.concat(virtual_lines(child), ""), ("word_x"))
    child:command("set number")
    assert(vim.wait(2000, function()
      child:command("redraw")
      return vim.deep_equal(widths(), { true, 6 })
    end, 20), vim.inspect(widths()))
  end, { columns = 60 })
end

function T.a_hunk_rejected_while_the_turn_runs_is_told_to_the_model_in_that_turn()
  local answers = {
    { calls = { { name = "read_file", input = { path = "src/values.lua" } } } },
    { calls = { replace(5), replace(25) } },
    { text = "I look once more.", calls = { { name = "read_file", input = { path = "src/values.lua" } } }, held = true },
    { text = "The first was rejected." },
  }
  review({ { text = "Ready." }, unpack(answers) }, function(child, model)
    child:prompt("Now.")
    child:wait_for("I look once more.")
    wait_for_hunks(child, 2)
    child:command("stopinsert | Azimuth chat")
    child:wait("vim.api.nvim_get_current_buf() == _G.bufnr")
    cursor(child, 6)
    child:command("Azimuth reject the small one stays")
    wait_for_hunks(child, 1)
    support.equal(child:lua("return require('azimuth.client').state().running ~= nil"), true)
    model:go_on()
    wait_until_told(child, "The first was rejected.")
    support.contains(vim.json.encode(model.asked[#model.asked].messages), "the small one stays")
    support.equal(shown(child), { { 26, "pending" } })
    support.equal(text(child), expected({}))
    -- The text that the model reads is without what was rejected, and with what still waits.
    local read = vim.json.encode(model.asked[#model.asked].messages):match(".*I look once more(.*)$")
    support.lacks(read, "value_05 = 500")
    support.contains(read, "value_25 = 2500")
  end, { answer_is = "Ready." })
end

local crlf = "\239\187\191one\r\ntwo\r\nthree\r\n"

function T.a_file_with_crlf_and_a_byte_order_mark_has_a_diff_of_one_line()
  local answers = {
    { calls = { { name = "read_file", input = { path = "open.txt" } }, { name = "read_file", input = { path = "closed.txt" } } } },
    {
      calls = {
        { name = "edit_replace_exact", input = { path = "open.txt", old_text = "two\n", new_text = "2\n" } },
        { name = "edit_replace_exact", input = { path = "closed.txt", old_text = "two\n", new_text = "2\n" } },
      },
    },
    { text = "Two lines." },
  }
  review({ { text = "Ready." }, unpack(answers) }, function(child, _, place)
    child:command("edit open.txt")
    child:lua("_G.bufnr = vim.api.nvim_get_current_buf()")
    support.equal(child:lua("return { vim.bo.fileformat, vim.bo.bomb, vim.fn.getline(2) }"), { "dos", true, "two" })
    child:prompt("Now.")
    child:wait_for("Two lines.")
    wait_for_hunks(child, 1)
    support.equal(virtual_lines(child), { "2" })
    support.equal(child:lua([[
      local counts = {}
      for _, proposal in ipairs(require("azimuth.review.hunks").proposals(require("azimuth.client").state())) do
        local count = require("azimuth.review.hunks").count(proposal)
        table.insert(counts, { proposal.path, count.hunks, count.removed, count.added })
      end
      return counts
    ]]), { { "open.txt", 1, 1, 1 }, { "closed.txt", 1, 1, 1 } })
    child:command("stopinsert | Azimuth accept all")
    wait_for_hunks(child, 0)
    child:wait("vim.api.nvim_buf_get_lines(_G.bufnr, 1, 2, true)[1] == '2'")
    child:wait([[vim.iter(require("azimuth.client").state().proposals):all(function(_, proposal)
      return proposal.hunks[1].state == "accepted"
    end)]])
    child:lua("vim.api.nvim_buf_call(_G.bufnr, function() vim.cmd('silent write') end)")
    local changed = (crlf:gsub("two", "2"))
    support.equal(support.read(place.project .. "/open.txt"), changed)
    support.equal(support.read(place.project .. "/closed.txt"), changed)
  end, { answer_is = "Ready.", files = { ["open.txt"] = crlf, ["closed.txt"] = crlf } })
end

function T.a_file_that_is_deleted_meanwhile_is_not_made_again_by_an_accept()
  local answers = three_hunks()
  answers[1].calls[2] = { name = "read_file", input = { path = "other.txt" } }
  answers[2].calls = { replace(5), { name = "edit_replace_exact", input = { path = "other.txt", old_text = "two\n", new_text = "TWO\n" } } }
  review(answers, function(child, _, place)
    wait_for_hunks(child, 1)
    assert(os.remove(place.project .. "/other.txt"))
    assert(os.remove(place.project .. "/src/values.lua"))
    child:command("Azimuth accept all")
    -- The editor's text is the only one there is.
    child:wait("vim.fn.getline(6) == 'local value_05 = 500'")
    child:wait([[vim.iter(require("azimuth.client").state().proposals):all(function(_, proposal)
      return proposal.hunks[1].state == (proposal.path == "other.txt" and "conflicted" or "accepted")
    end)]])
    support.equal(vim.uv.fs_stat(place.project .. "/other.txt"), nil)
    support.equal(vim.uv.fs_stat(place.project .. "/src/values.lua"), nil)
    child:command("undo")
    support.equal(text(child), expected({}))
  end, { files = { ["other.txt"] = "one\ntwo\nthree\n" } })
end

--- Holds back what Neovim tells the server of changes, as a slow connection does, until `_G.let_go()`.
local hold_back = [[
  local rpc = require("azimuth.client").lsp_client().rpc
  local notify, held = rpc.notify, {}
  rpc.notify = function(method, params)
    if method == "textDocument/didChange" then
      table.insert(held, params)
      return true
    end
    return notify(method, params)
  end
  _G.let_go = function()
    rpc.notify = notify
    for _, params in ipairs(held) do
      notify("textDocument/didChange", params)
    end
  end
]]

--- The document as it is before the user types in it, where it has been changed since the server first saw it.
local changed_before = { [30] = "local value_30 = 31" }

---@param child Child
---@param changes table<integer, string>
local function type_and_accept_before_the_server_hears_of_it(child, changes)
  wait_for_hunks(child, 3)
  for line, change in pairs(changes) do
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, select(1, ...), select(1, ...) + 1, true, { select(2, ...) })", line, change)
  end
  child:lua(hold_back)
  cursor(child, 1)
  child:type("A, or is it<Esc>")
  child:wait("vim.fn.getline(1) == '-- never saved, or is it'")
  cursor(child, 6)
  child:command("Azimuth accept")
end

---@param child Child
---@param changes table<integer, string>
local function assert_that_only_the_typing_is_there(child, changes)
  local lines = vim.split(expected(changes), "\n")
  lines[1] = "-- never saved, or is it"
  support.equal(text(child), table.concat(lines, "\n"))
end

---@param child Child
local function accept_what_the_server_has_heard_of(child)
  child:lua("_G.let_go()")
  child:wait([[vim.iter(require("azimuth.client").state().proposals):all(function(_, proposal)
    return vim.iter(proposal.hunks):all(function(hunk) return hunk.state == "pending" end)
  end)]])
  wait_for_hunks(child, 3)
  child:command("Azimuth accept")
  child:wait("vim.fn.getline(6) == 'local value_05 = 500'")
  support.equal(child:lua("return vim.fn.getline(1)"), "-- never saved, or is it")
end

function T.a_stale_version_that_neovim_skips_and_calls_applied_is_found_out()
  review(three_hunks(), function(child)
    -- Neovim's own handler, which skips no edit of version 0, as a document has it until it is first changed.
    child:lua([[
      require("azimuth.client").lsp_client().handlers["workspace/applyEdit"] = nil
      local handler = vim.lsp.handlers["workspace/applyEdit"]
      vim.lsp.handlers["workspace/applyEdit"] = function(...)
        _G.answered = handler(...)
        return _G.answered
      end
    ]])
    type_and_accept_before_the_server_hears_of_it(child, changed_before)
    support.equal(child:wait("_G.answered").applied, true)
    assert_that_only_the_typing_is_there(child, changed_before)
    wait_until_told(child, "the editor said that it took the edit, but the document does not show it")
    accept_what_the_server_has_heard_of(child)
  end)
end

function T.a_stale_version_is_refused_aloud_by_the_plugin()
  for _, changes in ipairs({ {}, changed_before }) do
    review(three_hunks(), function(child)
      type_and_accept_before_the_server_hears_of_it(child, changes)
      wait_until_told(child, "the document has changed in the meantime")
      assert_that_only_the_typing_is_there(child, changes)
      accept_what_the_server_has_heard_of(child)
    end)
  end
end

--- A command that changes two lines of a file, deletes one and makes one.
---@param test fun(child: Child, model: Model, place: Place)
---@param edits? { name: string, input: table }[] What the agent proposes in a turn after it.
local function after_a_command(test, edits)
  local command = "sed -i -e 's/_05 = 5$/_05 = 500/' -e 's/_25 = 25$/_25 = 2500/' src/values.lua && rm other.txt && echo 'return 1' > src/made.lua"
  local answers = {
    { calls = { { name = "shell_run", input = { command = command } } } },
    { text = "The command has run." },
    { text = "Seen." },
  }
  if edits then
    local proposes = { { calls = { { name = "read_file", input = { path = "src/values.lua" } } } }, { calls = edits }, { text = "Both are proposed." } }
    for at, answer in ipairs(proposes) do
      table.insert(answers, 2 + at, answer)
    end
  end
  review(answers, function(child, model, place)
    wait_for_hunks(child, 2)
    child:wait("require('azimuth.status').hunks(require('azimuth.client').state()) == '4 hunks already in'")
    if edits then
      -- The editor has read the file anew.
      child:wait("vim.api.nvim_buf_get_lines(_G.bufnr, 4, 5, true)[1] == 'local value_05 = 500'")
      child:lua("require('azimuth.turn').send({ { type = 'text', text = 'Propose.' } })")
      wait_until_told(child, "Both are proposed.")
      child:wait("require('azimuth.client').state().running == nil")
      wait_for_hunks(child, 2 + #edits)
    end
    test(child, model, place)
  end, {
    no_edit = true,
    answer_is = "The command has run.",
    settings = 'permissions.allow = ["Shell"]',
    files = { ["other.txt"] = "one\ntwo\n" },
  })
end

--- The file as the command left it, with some lines in place of others.
---@param changes table<integer, string>
local function as_the_command_left_it(changes)
  local lines = { [5] = "local value_05 = 500", [25] = "local value_25 = 2500" }
  return (expected(vim.tbl_extend("force", lines, changes)):gsub("^[^\n]*\n", ""))
end

function T.what_a_command_changed_is_kept_or_taken_back_hunk_by_hunk()
  after_a_command(function(child, model, place)
    support.equal(shown(child), { { 5, "pending" }, { 25, "pending" } })
    support.equal(virtual_lines(child), { "local value_05 = 5", "local value_25 = 25" })
    support.equal(text(child), as_the_command_left_it({}))
    cursor(child, 1)
    child:type("]a")
    child:wait("vim.fn.line('.') == 5")
    support.contains(child:screen(), "keep")
    support.contains(child:screen(), "take back")
    child:type("<Space>ax")
    wait_for_hunks(child, 1)
    child:wait("vim.fn.getline(5) == 'local value_05 = 5'")
    support.equal(text(child), as_the_command_left_it({ [5] = "local value_05 = 5" }))
    child:type("]a")
    child:wait("vim.fn.line('.') == 25")
    -- That it is kept is no news to the model but for the words.
    child:command("Azimuth accept this one is right")
    wait_for_hunks(child, 0)
    support.equal(text(child), as_the_command_left_it({ [5] = "local value_05 = 5" }))
    -- To take back is one undo step, to keep is none.
    child:command("undo")
    support.equal(text(child), as_the_command_left_it({}))
    child:command("redo")
    child:prompt("Go on.")
    wait_until_told(child, "Seen.")
    local told = vim.json.encode(model.asked[#model.asked].messages)
    support.contains(told, "The user took back")
    support.contains(told, "this one is right")
    support.equal(support.read(place.project .. "/src/made.lua"), "return 1\n")
  end)
end

--- Returns the agent's edits after the command: one of a line that the command has changed, and one of another line.
local function two_edits()
  local over = replace(5)
  over.input.old_text, over.input.new_text = "local value_05 = 500\n", "local value_05 = 5000\n"
  return { over, replace(15) }
end

---@param child Child
---@param state string
---@param landed boolean
---@return integer
local function count(child, state, landed)
  return child:lua([[
    local state, landed = ...
    local number = 0
    for _, proposal in pairs(require("azimuth.client").state().proposals) do
      for _, hunk in ipairs(proposal.hunks) do
        number = number + ((hunk.state == state and (proposal.landed == true) == landed) and 1 or 0)
      end
    end
    return number
  ]], state, landed)
end

---@param child Child
---@param part string
local function wait_until_said(child, part)
  child:wait(("vim.iter(_G.said):any(function(said) return said[1]:find(%q, 1, true) end)"):format(part))
end

function T.a_file_with_both_kinds_of_hunks_is_decided_one_kind_at_a_time()
  after_a_command(function(child, _, place)
    cursor(child, 5)
    support.contains(child:screen(), "<Space>ay accept")
    support.lacks(child:screen(), "<Space>ay keep")
    child:command("Azimuth reject")
    wait_until_said(child, "only what is proposed here is meant.")
    child:wait("#require('azimuth.review.marks').list(_G.bufnr) == 3")
    support.equal({ count(child, "rejected", false), count(child, "pending", true) }, { 1, 4 })
    -- The command's own word means its hunk alone.
    cursor(child, 15)
    child:command("Azimuth back")
    wait_until_said(child, "no hunk that is in the file already is here.")
    child:command("Azimuth accept file")
    child:wait("vim.fn.getline(15) == 'local value_15 = 1500'")
    support.equal(count(child, "pending", true), 4)
    child:command("Azimuth reject all")
    wait_until_said(child, "For what is already in its file, use :Azimuth keep and :Azimuth back.")
    support.equal(text(child), as_the_command_left_it({ [15] = "local value_15 = 1500" }))
    child:command("Azimuth back file")
    wait_for_hunks(child, 0)
    child:wait("vim.fn.getline(25) == 'local value_25 = 25'")
    support.equal(text(child), (expected({ [15] = "local value_15 = 1500" }):gsub("^[^\n]*\n", "")))
    support.equal(support.read(place.project .. "/src/made.lua"), "return 1\n")
    support.equal(vim.uv.fs_stat(place.project .. "/other.txt"), nil)
  end, two_edits())
end

function T.to_take_back_all_that_commands_changed_is_asked_for_with_what_it_does()
  after_a_command(function(child, _, place)
    child:lua([[
      vim.ui.select = function(items, options, choose)
        _G.asked = options.prompt
        choose(_G.choice)
      end
    ]])
    child:command("Azimuth back all")
    child:wait("_G.asked == 'Azimuth: take back all that commands changed? That writes 2 files and deletes 1 file.'")
    support.equal({ count(child, "pending", true), count(child, "pending", false) }, { 4, 2 })
    child:lua("_G.choice = 'Take it back'")
    child:command("Azimuth back all")
    child:wait("vim.uv.fs_stat('other.txt') and not vim.uv.fs_stat('src/made.lua')")
    support.equal(support.read(place.project .. "/other.txt"), "one\ntwo\n")
    child:wait("vim.fn.getline(25) == 'local value_25 = 25'")
    -- The hunks that are proposed in the same file are not decided by it.
    support.equal(count(child, "rejected", false), 0)
  end, two_edits())
end

function T.a_document_beside_both_kinds_is_decided_by_the_view_that_is_looked_at()
  after_a_command(function(child)
    -- The proposal's view first, then that of what the command changed: the document is on the left, and then on the right.
    child:lua([[
      local client, diff = require("azimuth.client"), require("azimuth.review.diff")
      _G.views = {}
      for _, landed in ipairs({ false, true }) do
        for _, proposal in pairs(client.state().proposals) do
          if (proposal.landed == true) == landed and proposal.path:find("values.lua", 1, true) then
            table.insert(_G.views, function() diff.open(client.session(), proposal) end)
          end
        end
      end
      _G.views[1]()
    ]])
    child:wait("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")
    child:command("tabfirst")
    child:lua("_G.views[2]()")
    child:wait("vim.fn.tabpagenr('$') == 3 or vim.fn.tabpagenr() == 2 and #vim.api.nvim_list_tabpages() == 3")
    child:wait("vim.wo.diff and vim.api.nvim_get_current_buf() == _G.bufnr")
    cursor(child, 25)
    child:type("do")
    child:wait("vim.fn.getline(25) == 'local value_25 = 25'")
    child:lua([[
      for _, window in ipairs(vim.fn.win_findbuf(_G.bufnr)) do
        local beside = vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(window))
        if #beside == 2 and beside[1] == window then
          vim.api.nvim_set_current_win(window)
        end
      end
    ]])
    cursor(child, 15)
    child:type("do")
    child:wait("vim.fn.getline(15) == 'local value_15 = 1500'")
    -- In the proposal's view the command's hunk is not decided, and what is proposed over it is.
    cursor(child, 5)
    child:type("dp")
    child:wait("require('azimuth.fold').pending(require('azimuth.client').state()) == 0")
    support.equal({ count(child, "pending", true), count(child, "rejected", false) }, { 3, 1 })
    support.equal(text(child), (expected({ [5] = "local value_05 = 500", [15] = "local value_15 = 1500" }):gsub("^[^\n]*\n", "")))
  end, two_edits())
end

function T.files_that_a_command_made_or_deleted_are_listed_with_what_it_changed()
  after_a_command(function(child, _, place)
    child:command("Azimuth hunks")
    local list = child:lua([[
      local lines = vim.tbl_map(function(item)
        return ("%s:%d %s %s"):format(vim.api.nvim_buf_get_name(item.bufnr):gsub("^.*/", ""), item.lnum, item.type, item.text)
      end, vim.fn.getqflist())
      table.sort(lines)
      return lines
    ]])
    support.equal(list, {
      "made.lua:1 I already in, new file, 1 line  return 1",
      "other.txt:1 I already in, the file was deleted  one",
      "values.lua:25 I already in, -1 +1  local value_25 = 2500",
      "values.lua:5 I already in, -1 +1  local value_05 = 500",
    })
    child:lua([[
      for at, item in ipairs(vim.fn.getqflist()) do
        if vim.api.nvim_buf_get_name(item.bufnr):find("other.txt", 1, true) then
          vim.cmd("cc " .. at)
        end
      end
    ]])
    child:wait("vim.fn.getline(2) == 'two'")
    support.contains(child:lua("return vim.wo.winbar"), "the file was deleted")
    support.equal(child:lua("return vim.bo.modifiable"), false)
    child:command("Azimuth reject")
    child:wait("vim.uv.fs_stat('other.txt')")
    support.equal(support.read(place.project .. "/other.txt"), "one\ntwo\n")
    child:wait("vim.bo.buftype == '' and vim.fn.expand('%:t') == 'other.txt'")
    -- The new file is there, and its lines are marked in it.
    child:command("edit src/made.lua")
    child:lua("_G.bufnr = vim.api.nvim_get_current_buf()")
    wait_for_hunks(child, 1)
    child:command("Azimuth keep file")
    wait_for_hunks(child, 0)
    support.equal(support.read(place.project .. "/src/made.lua"), "return 1\n")
  end)
end

function T.what_a_command_changed_stands_beside_what_was_there()
  after_a_command(function(child)
    child:command("Azimuth diff")
    child:wait("vim.fn.tabpagenr('$') == 2 and vim.wo.diff")
    local function sides()
      return child:lua([[
        return vim.tbl_map(function(window)
          local bufnr = vim.api.nvim_win_get_buf(window)
          return {
            vim.api.nvim_buf_get_name(bufnr):match("^azimuth%-review:") and "before" or "document",
            vim.api.nvim_buf_get_lines(bufnr, 4, 5, false)[1],
            vim.api.nvim_buf_get_lines(bufnr, 24, 25, false)[1],
          }
        end, vim.api.nvim_tabpage_list_wins(0))
      ]])
    end
    support.equal(sides(), {
      { "before", "local value_05 = 5", "local value_25 = 25" },
      { "document", "local value_05 = 500", "local value_25 = 2500" },
    })
    support.equal(child:lua("return vim.api.nvim_get_current_buf() == _G.bufnr"), true)
    cursor(child, 5)
    child:type("do")
    wait_for_hunks(child, 1)
    child:wait("vim.fn.getline(5) == 'local value_05 = 5'")
    child:command("wincmd h")
    support.equal(child:lua("return vim.bo.modifiable"), false)
    cursor(child, 25)
    child:type("do")
    wait_for_hunks(child, 0)
    support.equal(text(child), as_the_command_left_it({ [5] = "local value_05 = 5" }))
    child:command("tabclose")
    support.equal(child:lua("return vim.wo.diff"), false)
  end)
end

function T.the_status_line_tells_what_waits()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    support.equal(child:lua("return require('azimuth.status').get()"), "azimuth: ready · test/m · 3 hunks")
    cursor(child, 6)
    child:command("Azimuth accept")
    child:wait("require('azimuth.status').get() == 'azimuth: ready · test/m · 2 hunks'")
  end)
end

function T.pending_hunks_are_there_after_the_server_was_killed()
  review(three_hunks(), function(child)
    wait_for_hunks(child, 3)
    local pid = child:lua("return tonumber(vim.fn.system({ 'pgrep', '-P', tostring(vim.fn.getpid()), '-x', 'azimuth' }))")
    vim.uv.kill(pid, "sigkill")
    child:wait([[vim.iter(_G.said):any(function(said) return said[1]:find("started again", 1, true) end)]])
    child:wait("require('azimuth.client').lsp_client() ~= nil")
    wait_for_hunks(child, 3)
    accept_one_and_three(child)
    support.equal(text(child), expected({ [5] = "local value_05 = 500", [25] = "local value_25 = 2500" }))
    child:command("undo")
    support.equal(text(child), expected({ [5] = "local value_05 = 500" }))
  end)
end

function T.edits_can_be_accepted_as_they_come()
  review({ { text = "Three hunks wait." }, unpack(three_hunks()) }, function(child)
    child:command("Azimuth auto on")
    child:wait("require('azimuth.client').state().accept_edits or #_G.said > 0")
    support.lacks(vim.inspect(child:lua("return _G.said")), "newer server")
    child:prompt("Now.")
    child:wait("require('azimuth.client').state().running == nil and #require('azimuth.client').state().entries > 5")
    child:wait("vim.api.nvim_buf_get_lines(_G.bufnr, 5, 6, false)[1] == 'local value_05 = 500'")
    wait_for_hunks(child, 0)
  end)
end

function T.edits_are_accepted_in_every_session_of_the_project_until_that_is_switched_off()
  review({ { text = "Ready." }, unpack(three_hunks()) }, function(child)
    local function accepts()
      return child:lua("local state = require('azimuth.client').state() return { state.accept_edits, state.accept_scope }")
    end
    local function wait_until_on(on)
      child:wait(("require('azimuth.client').state().accept_edits == %s"):format(on))
    end
    child:command("Azimuth auto on project")
    wait_until_on(true)
    support.equal(accepts(), { true, "project" })
    support.contains(child:lua("return require('azimuth.status').get()"), "accepts edits (project)")
    child:command("Azimuth chat")
    child:wait_for("Ready.")
    support.contains(child:lua("return vim.wo[require('azimuth.chat').window()].winbar"), "accepts edits (project)")
    -- Another session of it accepts them, too.
    child:command("stopinsert | Azimuth new")
    child:wait("#require('azimuth.client').sessions() == 2")
    wait_until_on(true)
    child:prompt("Now.")
    child:wait("vim.api.nvim_buf_get_lines(_G.bufnr, 5, 6, false)[1] == 'local value_05 = 500'")
    child:wait("require('azimuth.client').state().running == nil")
    -- For one session it can be off all the same.
    child:command("stopinsert | Azimuth auto")
    wait_until_on(false)
    child:command("Azimuth auto project")
    wait_until_on(true)
    child:command("Azimuth auto off project")
    wait_until_on(false)
    support.lacks(child:lua("return require('azimuth.status').get()"), "accepts")
    child:command("Azimuth auto perhaps")
    support.contains(vim.inspect(child:lua("return _G.said")), "it is :Azimuth auto [on|off] [project]")
  end, { answer_is = "Ready." })
end

return T
