--- Following the agent: a window shows where it looks.

local models = require("model")
local support = require("support")

local T = {}

--- A turn in which the agent reads `b.txt`, from its line 40 on.
local function answers()
  return {
    { calls = { { name = "read_file", input = { path = "b.txt", start_line = 40, end_line = 45 } } } },
    { text = "Read." },
    { calls = { { name = "read_file", input = { path = "a.txt" } } } },
    { text = "Read again." },
  }
end

---@param setup string
---@param test fun(child: Child)
local function with_agent(setup, test)
  local lines = {}
  for number = 1, 100 do
    table.insert(lines, "line " .. number)
  end
  local place = support.place({ ["a.txt"] = "a\n", ["b.txt"] = table.concat(lines, "\n") .. "\n" })
  local model = models.start(answers())
  support.use_model(place, model)
  local child = support.start(place, { setup = setup })
  local ok, problem = xpcall(function()
    child:command("edit a.txt")
    child:open_chat()
    test(child)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

--- The files in windows, the chat's not counted.
---@param child Child
---@return string[]
local function shown(child)
  return child:lua([[
    local names = {}
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local bufnr = vim.api.nvim_win_get_buf(window)
      if vim.bo[bufnr].buftype == "" then
        table.insert(names, vim.fs.basename(vim.api.nvim_buf_get_name(bufnr)))
      end
    end
    table.sort(names)
    return names
  ]])
end

function T.a_window_shows_where_the_agent_looks_and_the_cursor_stays()
  with_agent("{ follow = true }", function(child)
    child:prompt("Read it.")
    child:wait_for("Read.")
    support.equal(shown(child), { "a.txt", "b.txt" })
    support.equal(child:lua("return vim.api.nvim_buf_get_name(0):match('azimuth') ~= nil"), true)
    local line = child:lua("return vim.api.nvim_win_get_cursor(vim.fn.win_findbuf(vim.fn.bufnr('b.txt'))[1])[1]")
    assert(line == 40, "the window is at line " .. line)
    -- It is the same window for what comes next.
    child:prompt("And the other.")
    child:wait_for("Read again.")
    support.equal(shown(child), { "a.txt", "a.txt" })
    -- A file that was read for the window alone goes with it.
    support.equal(child:lua("return vim.fn.bufexists('b.txt')"), 0)
  end)
end

function T.a_file_that_the_user_has_been_in_or_that_is_asked_about_stays()
  with_agent("{ follow = true }", function(child)
    local function b_is()
      return child:lua("local b = vim.fn.bufnr('b.txt'); return b > 0 and { vim.fn.bufloaded(b), vim.fn.buflisted(b) } or {}")
    end
    child:prompt("Read it.")
    child:wait_for("Read.")
    support.equal(b_is(), { 1, 0 })
    child:command("stopinsert")
    child:lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(vim.fn.bufnr('b.txt'))[1])")
    support.equal(b_is(), { 1, 1 })
    child:prompt("And the other.")
    child:wait_for("Read again.")
    support.equal({ shown(child), b_is() }, { { "a.txt", "a.txt" }, { 1, 1 } })
  end)
  with_agent("{ follow = true }", function(child)
    child:prompt("Read it.")
    child:wait_for("Read.")
    local uri = "vim.uri_from_fname(vim.fn.fnamemodify('b.txt', ':p'))"
    child:lua(("_G.taken = require('azimuth.lang.documents').take(%s)"):format(uri))
    child:prompt("And the other.")
    child:wait_for("Read again.")
    support.equal(child:lua("return vim.api.nvim_buf_is_loaded(_G.taken.bufnr)"), true)
    -- The question has its answer, and the window is closed.
    child:lua("require('azimuth.lang.documents').release(_G.taken.bufnr)")
    child:command("stopinsert | Azimuth follow off")
    child:wait("vim.fn.bufexists('b.txt') == 0")
  end)
end

function T.a_file_that_another_editor_has_open_is_shown_and_that_is_said_where_the_user_enters_it()
  local place = support.place({ ["a.txt"] = "a\n", ["b.txt"] = "b\n" })
  local model = models.start({ { calls = { { name = "read_file", input = { path = "b.txt" } } } }, { text = "Read." } })
  support.use_model(place, model)
  local other = support.start(place)
  local child = support.start(place, { setup = "{ follow = true }" })
  local ok, problem = xpcall(function()
    other:lua("vim.o.swapfile = true; vim.cmd.edit('b.txt')")
    child:lua("vim.o.swapfile, vim.o.directory = true, ...; vim.cmd.edit('a.txt')", other:lua("return vim.o.directory"))
    child:open_chat()
    child:prompt("Read it.")
    child:wait_for("Read.")
    support.equal({ shown(child), child:lua("return { vim.fn.swapname('b.txt'), #_G.said }") }, { { "a.txt", "b.txt" }, { "", 0 } })
    child:command("stopinsert")
    child:lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(vim.fn.bufnr('b.txt'))[1])")
    support.contains(child:lua("return _G.said[1][1]"), "there is a swap file of it, so another editor may have it open.")
    support.equal(child:lua("return vim.fn.fnamemodify(vim.fn.swapname('b.txt'), ':e')"), "swo")
  end, debug.traceback)
  child:stop()
  other:stop()
  assert(ok, problem)
end

function T.a_window_that_the_user_closes_stays_closed_until_the_next_turn()
  local place = support.place({ ["a.txt"] = "a\n", ["b.txt"] = "b\n" })
  local model = models.start({})
  model.answers = {
    { calls = { { name = "read_file", input = { path = "b.txt" } } } },
    { calls = { { name = "shell_run", input = { command = "touch made" } } } },
    { calls = { { name = "read_file", input = { path = "b.txt" } } } },
    { text = "Read." },
    { calls = { { name = "read_file", input = { path = "b.txt" } } } },
    { text = "Read again." },
  }
  support.use_model(place, model)
  local child = support.start(place, { setup = "{ follow = true }" })
  child:command("edit a.txt")
  child:open_chat()
  child:prompt("Read it.")
  child:wait_for_question()
  support.equal(shown(child), { "a.txt", "b.txt" })
  child:lua("vim.api.nvim_win_close(vim.fn.win_findbuf(vim.fn.bufnr('b.txt'))[1], false)")
  child:command("stopinsert | Azimuth permission")
  child:wait("vim.api.nvim_get_mode().mode == 'n'")
  child:type("a")
  child:wait_for("Read.")
  support.equal(shown(child), { "a.txt" })
  child:prompt("Again.")
  child:wait_for("Read again.")
  support.equal(shown(child), { "a.txt", "b.txt" })
  child:stop()
end

function T.a_file_that_would_hold_up_the_editor_is_not_loaded()
  local place = support.place({ ["a.txt"] = "a\n", ["big.txt"] = ("long line\n"):rep(500000) })
  local model = models.start({
    { calls = { { name = "read_file", input = { path = "big.txt", start_line = 1, end_line = 5 } } } },
    { text = "Read." },
  })
  support.use_model(place, model)
  local child = support.start(place, { setup = "{ follow = true }" })
  child:command("edit a.txt")
  child:open_chat()
  child:prompt("Read it.")
  child:wait_for("Read.")
  support.equal({ shown(child), child:lua("return vim.fn.bufexists('big.txt')") }, { { "a.txt" }, 0 })
  child:stop()
end

function T.a_file_that_was_read_for_a_question_is_a_document_where_it_is_shown()
  with_agent("{ follow = true }", function(child)
    child:lua("require('azimuth.lang.documents').take(vim.uri_from_fname(vim.fn.fnamemodify('b.txt', ':p')))")
    support.equal(child:lua("return vim.bo[vim.fn.bufnr('b.txt')].buflisted"), false)
    child:prompt("Read it.")
    child:wait_for("Read.")
    support.equal(shown(child), { "a.txt", "b.txt" })
    child:lua("require('azimuth.lang.documents').release(vim.fn.bufnr('b.txt'))")
    support.equal(shown(child), { "a.txt", "b.txt" })
    local client = "require('azimuth.client').lsp_client().id"
    support.equal(
      child:lua(("local b = vim.fn.bufnr('b.txt'); return { vim.bo[b].buflisted, vim.lsp.buf_is_attached(b, %s) }"):format(client)),
      { false, true }
    )
    child:prompt("And the other.")
    child:wait_for("Read again.")
    support.equal({ shown(child), child:lua("return vim.fn.bufloaded('b.txt')") }, { { "a.txt", "a.txt" }, 0 })
  end)
end

function T.it_is_off_unless_it_is_wanted()
  with_agent("{}", function(child)
    child:prompt("Read it.")
    child:wait_for("Read.")
    support.equal(shown(child), { "a.txt" })
    child:command("stopinsert | Azimuth follow on")
    child:prompt("And the other.")
    child:wait_for("Read again.")
    support.equal(shown(child), { "a.txt", "a.txt" })
    child:command("stopinsert | Azimuth follow off")
    support.equal(shown(child), { "a.txt" })
  end)
end

return T
