--- The pure parts of terminals and permission: what events come to, how it looks.

local bar = require("azimuth.terminal.bar")
local fold = require("azimuth.fold")
local jobs = require("azimuth.jobs")
local permissions = require("azimuth.permissions")
local prompt = require("azimuth.prompt")
local render = require("azimuth.render")
local status = require("azimuth.status")
local support = require("support")
local terminals = require("azimuth.fold.terminals")

local T = {}

---@param state azimuth.State
---@param event table
local function apply(state, event)
  fold.apply(state, { seq = state.seq + 1, at = 1000, event = event })
end

---@param more? table
---@return azimuth.TerminalInfo
local function shell(more)
  return vim.tbl_extend("force", {
    terminalId = "shell-1",
    kind = "shell",
    title = "shell",
    cwd = "/p",
    sandbox = "workspace_write",
    alive = true,
    taken = false,
    startedAt = 0,
    ["end"] = 0,
  }, more or {})
end

---@param more? table
---@return azimuth.TerminalInfo
local function job(more)
  return shell(vim.tbl_extend("force", { terminalId = "job-1", kind = "job", title = "npm run dev" }, more or {}))
end

local runs = { toolCallId = "c1", command = "npm init", startedAt = 0 }
local waits = { certainty = "certain", prompt = "package name: ", hidden = false }

---@param state azimuth.State
---@param info azimuth.TerminalInfo
local function changed(state, info)
  apply(state, { type = "terminalChanged", terminal = info })
end

--- A state in which a command runs in the shell.
---@return azimuth.State
local function running()
  local state = fold.new()
  apply(state, { type = "turnStarted", turnId = "t1", prompt = { { type = "text", text = "go" } }, mode = "agent" })
  apply(state, {
    type = "toolCallStarted",
    turnId = "t1",
    toolCallId = "c1",
    name = "shell_run",
    kind = "execute",
    title = "Running npm init",
    input = { command = "npm init" },
  })
  apply(state, { type = "terminalStarted", terminalId = "shell-1", toolCallId = "c1", command = "npm init", cwd = "/p", offset = 0 })
  changed(state, shell({ running = runs }))
  return state
end

--- The entry of the command.
---@param state azimuth.State
---@return string[]
local function card(state)
  return render.entry(state.entries[2]).lines
end

function T.a_command_that_waits_says_so_with_what_it_asks_and_the_keys()
  local state = running()
  support.equal(card(state), { "◌ Running npm init" })
  changed(state, shell({ running = runs, waiting = waits }))
  support.equal(card(state), {
    "? Running npm init  waits for input",
    "  package name:",
    "  s answers · T takes it over · t shows it · x ends it",
  })
  changed(state, shell({ running = runs, waiting = { certainty = "probable", prompt = "", hidden = false } }))
  support.equal(card(state)[1], "? Running npm init  may be waiting for input")
  changed(state, shell({ running = runs }))
  support.equal(card(state), { "◌ Running npm init" })
end

function T.a_hidden_answer_belongs_into_the_terminal()
  local state = running()
  changed(state, shell({ running = runs, waiting = { certainty = "certain", prompt = "Password:", hidden = true } }))
  support.equal(card(state)[1], "? Running npm init  waits for input that is not shown")
  support.contains(card(state)[3], "s answers in the terminal")
end

function T.what_a_program_asks_cannot_bring_escapes_into_the_editor()
  local state = running()
  changed(state, shell({ running = runs, waiting = { certainty = "certain", prompt = "a\27]52;c;x\7b\nc", hidden = false } }))
  support.equal(card(state)[2], "  a^[]52;c;x^Gb c")
end

function T.who_typed_what_stands_in_the_card()
  local state = running()
  for _, typed in ipairs({
    { by = "model", text = "yes", hidden = false },
    { by = "user", text = "no", hidden = false },
    { by = "user", text = "", hidden = true },
  }) do
    apply(state, vim.tbl_extend("force", { type = "terminalInput", terminalId = "shell-1", toolCallId = "c1" }, typed))
  end
  support.equal(vim.list_slice(card(state), 2), {
    "  The model typed: yes",
    "  You typed: no",
    "  You typed what is not shown",
  })
end

function T.who_has_taken_the_terminal_over_is_said_until_it_is_handed_back()
  local state = running()
  changed(state, shell({ running = runs, taken = true }))
  support.equal(card(state)[1], "◌ Running npm init  you have the terminal")
  support.contains(card(state)[2], "T hands it back to the agent")
  changed(state, shell({ running = runs }))
  support.equal(card(state), { "◌ Running npm init" })
end

function T.a_command_that_goes_on_after_its_call_still_says_that_it_waits()
  local state = running()
  changed(state, shell({ running = runs, waiting = waits }))
  apply(state, {
    type = "toolCallEnded",
    turnId = "t1",
    result = { toolCallId = "c1", text = "It waits.", isError = false },
    summary = "waits for input",
    durationMs = 5,
  })
  support.equal(vim.list_slice(card(state), 1, 4), {
    "? Running npm init  waits for input",
    "  package name:",
    "  s answers · T takes it over · t shows it · x ends it",
    "  what came so far",
  })
  support.equal(render.entry(state.entries[2]).fold, { first = 3, last = #card(state) - 1 })
  -- Another command runs in the shell now.
  changed(state, shell({ running = { toolCallId = "c2", command = "ls", startedAt = 0 } }))
  support.equal(card(state)[1], "✓ Running npm init  waits for input", "only the result's own words are left")
end

function T.a_job_shows_in_its_card_how_it_goes_to_its_end()
  local state = running()
  apply(state, {
    type = "toolCallEnded",
    turnId = "t1",
    result = { toolCallId = "c1", text = "", isError = false },
    summary = "",
    durationMs = 5,
  })
  local starts = { toolCallId = "c1", command = "npm run dev", startedAt = 0 }
  changed(state, job({ running = starts }))
  support.equal(card(state)[1], "✓ job-1: running · Running npm init")
  changed(state, job({ running = starts, ready = { line = "ready in 3 ms", ports = { 5173 } } }))
  support.equal(card(state)[1], "✓ job-1: up, port 5173 · Running npm init")
  changed(state, job({ alive = false, exitCode = 1 }))
  support.equal(card(state)[1], "✓ job-1: exit code 1 · Running npm init")
  changed(state, job({ alive = false, exitCode = 1, ["end"] = 7 }))
  support.equal(card(state)[1], "✓ job-1: exit code 1 · Running npm init")
end

function T.growing_output_draws_nothing_anew()
  local state = running()
  changed(state, job({ running = runs, ready = { ports = { 80 } } }))
  local version = state.entries[2].version
  changed(state, job({ running = runs, ready = { ports = { 80 } }, ["end"] = 1000 }))
  support.equal(state.entries[2].version, version)
  support.equal(state.terminal_info["job-1"]["end"], 1000)
end

function T.terminals_of_an_earlier_host_are_forgotten_and_new_ones_are_not()
  local state = running()
  changed(state, job())
  local asked = vim.deepcopy(state.terminal_order)
  changed(state, job({ terminalId = "job-2" }))
  terminals.take(state, { shell() }, asked)
  support.equal(state.terminal_order, { "shell-1", "job-2" })
  support.equal(#terminals.all(state), 2)
end

function T.a_command_of_the_users_own_shows_its_last_lines()
  local state = fold.new()
  apply(state, { type = "userCommandStarted", toolCallId = "u1", command = "seq 25", inContext = true })
  support.equal(render.entry(state.entries[1]).lines, { "You, in the shell", "", "◌ seq 25  running", "" })
  local printed = {}
  for number = 1, 25 do
    table.insert(printed, tostring(number))
  end
  apply(state, { type = "userCommandEnded", toolCallId = "u1", text = table.concat(printed, "\n") .. "\n", exitCode = 0, durationMs = 3 })
  local lines = render.entry(state.entries[1]).lines
  support.equal(vim.list_slice(lines, 1, 6), { "You, in the shell", "", "✓ seq 25", "… 5 lines above; <CR> shows all", "```", "6" })
  support.equal(vim.list_slice(lines, #lines - 2), { "25", "```", "" })
  support.equal(vim.list_slice(render.tool_detail(state.entries[1]), 1, 3), { "$ seq 25", "", "1" })
  support.equal(fold.prompts(state), { "!seq 25" })
end

function T.what_the_model_does_not_see_is_marked()
  local state = fold.new()
  apply(state, { type = "userCommandStarted", toolCallId = "u1", command = "false", inContext = false })
  apply(state, { type = "userCommandEnded", toolCallId = "u1", text = "", exitCode = 1, durationMs = 3 })
  support.equal(render.entry(state.entries[1]).lines, { "You, in the shell · not in the context", "", "✗ false  exit code 1", "" })
  support.equal(fold.prompts(state), { "!!false" })
  apply(state, { type = "userCommandStarted", toolCallId = "u2", command = "sleep 9", inContext = false })
  apply(state, { type = "userCommandEnded", toolCallId = "u2", text = "", durationMs = 3 })
  support.equal(render.entry(state.entries[2]).lines[3], "– sleep 9  not finished")
end

function T.the_end_of_a_turn_does_not_end_a_command_of_the_users_own()
  local state = running()
  apply(state, { type = "userCommandStarted", toolCallId = "u1", command = "sleep 9", inContext = true })
  apply(state, { type = "turnEnded", turnId = "t1", stopReason = "end_turn", usage = {} })
  support.equal(state.entries[3].done, nil)
  support.equal(state.entries[2].status, "cancelled")
end

function T.a_command_of_the_users_own_mentions_nothing()
  support.equal(prompt.blocks("!git show @{u} @a.txt", "/", { ["a.txt"] = "file:///a.txt" }), {
    { type = "text", text = "!git show @{u} @a.txt" },
  })
  support.equal(#prompt.blocks(" !git show @a.txt", "/", { ["a.txt"] = "file:///a.txt" }), 2)
end

---@return azimuth.PermissionRequest
local function question(about)
  return {
    permissionId = "p1",
    about = about,
    title = "Run a command?",
    detail = "cargo test",
    reason = "No rule allows it.",
    options = {
      { optionId = "allow_once", name = "Allow once", kind = "allow_once" },
      { optionId = "session", name = "Allow cargo test in this session", kind = "allow_always" },
      { optionId = "allow_always", name = "Always allow cargo test", kind = "allow_always" },
      { optionId = "reject_once", name = "Reject", kind = "reject_once" },
    },
  }
end

function T.each_scope_of_an_answer_has_a_key_of_its_own()
  local keys = vim.tbl_map(function(choice)
    return choice.key .. " " .. choice.option.optionId
  end, render.keys(question().options))
  support.equal(keys, { "a allow_once", "S session", "A allow_always", "r reject_once" })
end

function T.a_question_about_the_sandbox_looks_other_than_the_rest()
  local block = { lines = {}, marks = {} }
  render.question(block, question("outside"), true)
  support.equal(block.lines[1], "! Run a command?")
  support.equal(block.marks[1].group, "AzimuthOutside")
end

function T.the_list_of_jobs_says_what_each_does()
  local now = os.time() * 1000
  local block, items = jobs.drawn({
    shell({ running = vim.tbl_extend("force", runs, { startedAt = now - 5000 }), waiting = waits }),
    job({ ready = { line = "Local: http://localhost:5173/", ports = { 5173 } }, startedAt = now - 125000 }),
    job({ terminalId = "job-2", title = "make", alive = false, exitCode = 2, startedAt = 0, endedAt = 7300000 }),
    job({ terminalId = "job-3", title = "sleep 9", alive = false, startedAt = 0, endedAt = 1000 }),
  }, 80)
  local lines = vim.tbl_map(function(line)
    return (line:gsub("[56] s", "5 s"))
  end, block.lines)
  support.equal(lines, {
    "? shell: npm init  waits for input · 5 s",
    "  package name:",
    "▸ job-1: npm run dev  up, port 5173 · 2 min",
    "  Local: http://localhost:5173/",
    "✗ job-2: make  exit code 2 · 2 h 1 min",
    "– job-3: sleep 9  stopped · 1 s",
  })
  support.equal(items[4].terminalId, "job-1")
  support.equal(items[6].terminalId, "job-3")
end

function T.the_bar_of_a_terminal_says_what_runs_and_who_has_it()
  local state = running()
  local view = { terminal_id = "shell-1", gone = false }
  local function line(info, width)
    return (bar.line(state, view, info, width or 80):gsub("%%#%w+#", ""):gsub("%%%*", ""))
  end
  support.equal(line(shell({ running = runs })), " shell, running: npm init%=i types · T takes over · q closes ")
  support.equal(line(shell({ running = runs, waiting = waits })), " shell, running: npm init%=waits for input · i types · T takes over · q closes ")
  support.equal(line(shell({ taken = true })), " shell, running: npm init%=you have it · i types · T hands back · q closes ")
  support.equal(line(job({ ready = { ports = { 80 } } })), " job-1, up, port 80: npm run dev%=i types · T takes over · q closes ")
  support.equal(line(job({ alive = false, exitCode = 3 })), " job-1, exit code 3: npm run dev%=q closes ")
  support.equal(line(shell({ running = runs }), 50), " shell, runni…%=i types · T takes over · q closes ")
end

function T.the_cursor_of_a_list_stays_on_its_item()
  local lists = require("azimuth.list")
  local names = { "b", "c" }
  local list = lists.open({
    title = "Names",
    footer = {},
    keys = {},
    id = function(name)
      return name
    end,
    draw = function()
      local block, items = { lines = {}, marks = {} }, {}
      for _, name in ipairs(names) do
        vim.list_extend(block.lines, { name, "  more of it" })
        items[#block.lines - 1], items[#block.lines] = name, name
      end
      return block, items
    end,
  })
  vim.api.nvim_win_set_cursor(list.window, { 2, 3 })
  names = { "a", "b", "c" }
  list:draw()
  support.equal(vim.api.nvim_win_get_cursor(list.window), { 4, 3 })
  names = { "a" }
  list:draw()
  list:close()
end

function T.rules_say_where_they_come_from_and_why_they_do_not_count()
  local block, items = permissions.drawn({
    { rule = "Shell(rm:*)", effect = "deny", origin = "user", source = "your config.toml", covers = "rm with any words", revocable = false },
    { rule = "Shell(make:*)", effect = "allow", origin = "project", source = ".azimuth/config.toml", covers = "make", revocable = false, void = "the project is not trusted" },
    { rule = "Shell(ls:*)", effect = "allow", origin = "session", source = "", covers = "", revocable = true },
  }, 100)
  support.equal(block.lines, {
    "deny  Shell(rm:*)  yours, your config.toml",
    "      rm with any words",
    "allow Shell(make:*)  the project's, .azimuth/config.toml",
    "      make",
    "      does not count now: the project is not trusted",
    "allow Shell(ls:*)  granted for the session",
  })
  support.equal(items[5].rule, "Shell(make:*)")
  support.equal(items[6].revocable, true)
end

function T.the_status_line_says_what_waits_and_that_nothing_is_asked()
  local state = running()
  changed(state, shell({ running = runs, waiting = waits }))
  support.equal(status.waits(state), "waits for input")
  state.mode = "bypass"
  support.equal({ status.mode(state) }, { "BYPASS", "AzimuthBypass" })
  state.mode = "agent"
  support.equal(status.mode(state), nil)
end

return T
