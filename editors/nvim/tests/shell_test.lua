--- The shell, end to end: commands that wait for input, jobs, commands of the user's own, modes, rules and trust, with a real
--- server, real programs and real keys.

local models = require("model")
local support = require("support")

local T = {}

--- A chat in which every command is allowed, unless `settings` says otherwise.
---@param options { answers: Answer[], files?: table<string, string>, settings?: string, asks_trust?: boolean, columns?: integer, lines?: integer }
---@param test fun(child: Child, model: Model, place: Place)
local function chat(options, test)
  local place = support.place(vim.tbl_extend("force", { ["a.txt"] = "a\n" }, options.files or {}))
  local model = models.start(options.answers)
  support.use_model(place, model, options.settings or 'permissions.allow = ["Shell"]')
  local child = support.start(place, { asks_trust = options.asks_trust, columns = options.columns, lines = options.lines })
  local ok, problem = xpcall(function()
    child:command("edit a.txt")
    child:open_chat()
    test(child, model, place)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

---@param name string
---@param input table
---@return Answer
local function calls(name, input)
  return { calls = { { name = name, input = input } } }
end

---@param command string
---@return Answer
local function run(command)
  return calls("shell_run", { command = command })
end

--- An answer that does not end before the test says so, so that what runs in the shell goes on meanwhile.
local function held()
  return { text = "I wait for it.", held = true }
end

--- Goes to the end of the transcript, in normal mode.
---@param child Child
local function to_transcript(child)
  child:lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(vim.fn.bufwinid('azimuth://chat'))")
  child:wait("vim.api.nvim_get_mode().mode == 'n'")
end

--- Puts the cursor on the line of the transcript that holds a text.
---@param child Child
---@param text string
local function to_line(child, text)
  to_transcript(child)
  child:lua("vim.fn.cursor(1, 1) assert(vim.fn.search([[\\V]] .. ..., 'cW') > 0)", text)
end

--- The text of a terminal, by its name.
---@param name string
---@return string expression
local function screen(name)
  return ([[(function()
    for _, view in ipairs(require("azimuth.terminal.view").all()) do
      if vim.api.nvim_buf_get_name(view.bufnr):find(%q, 1, true) then
        return table.concat(vim.api.nvim_buf_get_lines(view.bufnr, 0, -1, false), "\n")
      end
    end
    return ""
  end)()]]):format("azimuth://terminal/" .. name)
end

---@param child Child
---@param name string
---@param part string
---@param within? integer
local function wait_for_screen(child, name, part, within)
  local ok, problem = pcall(child.wait, child, ("%s:find(%q, 1, true)"):format(screen(name), part), within)
  if not ok then
    error(("%s\nthe terminal:\n%s"):format(problem, child:lua("return " .. screen(name))), 2)
  end
end

--- Waits until the floating window in which the cursor is shows a text.
---@param child Child
---@param part string
local function wait_for_float(child, part)
  child:wait(([[vim.api.nvim_win_get_config(0).relative ~= "" and
    table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find(%q, 1, true)]]):format(part))
end

---@param child Child
---@param part string
local function wait_for_message(child, part)
  child:wait(([[vim.iter(_G.said):any(function(said) return said[1]:find(%q, 1, true) end)]]):format(part))
end

local ASK_NAME = [[read -p 'Name: ' name; echo "hello $name" | tee out.txt]]

function T.a_command_that_waits_is_answered_from_its_card()
  chat({ answers = { run(ASK_NAME), held() } }, function(child, model)
    child:prompt("Ask me.")
    child:wait_for("waits for input")
    child:wait_for("  Name:")
    support.contains(child:lua("return require('azimuth.status').get()"), "waits for input")
    to_transcript(child)
    child:type("s")
    child:wait("vim.api.nvim_get_mode().mode == 'c'")
    child:type("Ada<CR>")
    child:wait("vim.uv.fs_stat('out.txt') and vim.fn.readfile('out.txt')[1] == 'hello Ada'")
    child:wait_for("You typed: Ada")
    child:wait("#require('azimuth.fold.terminals').waiting(require('azimuth.client').state()) == 0")
    model:go_on()
    child:wait_for("Done")
  end)
end

function T.what_was_unfolded_of_a_command_that_waits_stays_so()
  chat({ answers = { run("read -p 'First: '; read -p 'Second: '"), held() } }, function(child)
    child:prompt("Ask me.")
    child:wait_for("what came so far")
    to_line(child, "what came so far")
    child:type("<Tab>")
    child:wait("vim.fn.foldclosed('.') == -1")
    child:command("Azimuth answer one")
    child:wait_for("  Second:")
    to_line(child, "what came so far")
    support.equal(child:lua("return vim.fn.foldclosed('.')"), -1)
  end)
end

function T.the_answer_to_an_earlier_question_is_not_typed_into_a_later_one()
  chat({ answers = { run("read -p 'First: '; read -p 'Delete all? '"), held() } }, function(child)
    child:prompt("Ask me.")
    child:wait_for("  First:")
    to_transcript(child)
    child:type("s")
    child:wait("vim.api.nvim_get_mode().mode == 'c'")
    -- Meanwhile it is answered elsewhere.
    child:lua([[
      local act, session = require("azimuth.terminal.act"), require("azimuth.client").session()
      act.write(session, act.named(session, "shell").terminalId, "other\r")
    ]])
    child:wait_for("  Delete all?")
    child:type("yes<CR>")
    wait_for_message(child, "no longer waits for that")
    support.lacks(child:transcript(), "You typed: yes")
  end)
end

function T.a_command_that_waits_is_answered_by_a_command_and_told_of_where_the_chat_is_closed()
  chat({ answers = { run(ASK_NAME), held() } }, function(child)
    child:prompt("Ask me.")
    child:lua("vim.cmd.stopinsert() require('azimuth.chat').close()")
    wait_for_message(child, "waits for input: Name:")
    support.equal(child:lua([[
      return #vim.tbl_filter(function(said) return said[1]:find("waits for input", 1, true) ~= nil end, _G.said)
    ]]), 1, "once is enough")
    child:command("Azimuth answer Grace Hopper")
    child:wait("vim.uv.fs_stat('out.txt') and vim.fn.readfile('out.txt')[1] == 'hello Grace Hopper'")
  end)
end

function T.a_password_is_typed_in_the_terminal_and_kept_nowhere()
  local secret = "correct-horse-battery-" .. vim.uv.hrtime()
  chat({ answers = { run([[read -s -p 'Password: ' word; echo; echo "length ${#word}"]]), held() } }, function(child, _, place)
    child:prompt("Ask me.")
    child:wait_for("input that is not shown")
    to_transcript(child)
    child:type("s")
    child:wait("vim.bo.buftype == 'terminal' and vim.api.nvim_get_mode().mode == 't'")
    wait_for_screen(child, "shell", "Password:")
    child:type(secret .. "<CR>")
    wait_for_screen(child, "shell", ("length %d"):format(#secret))
    child:wait_for("You typed what is not shown")
    support.lacks(child:transcript(), secret)
    local found = vim.system({ "grep", "-rl", "--", secret, place.home, place.project }, { text = true }):wait()
    support.equal(found.stdout, "", "no file holds it")
  end)
end

function T.a_terminal_is_taken_over_and_handed_back()
  chat({
    answers = { run("cd sub; export COLOUR=blue"), { text = "I am in sub." }, run("pwd; echo $COLOUR $TASTE"), { text = "So it is." } },
    files = { ["sub/deeper/b.txt"] = "b\n" },
  }, function(child, model, place)
    child:prompt("Go there.")
    child:wait_for("I am in sub.")
    child:wait("not require('azimuth.client').state().running")
    child:command("Azimuth takeover")
    child:wait("vim.bo.buftype == 'terminal' and vim.api.nvim_get_mode().mode == 't'")
    child:wait("vim.wo.winbar:find('you have it', 1, true)")
    child:type("cd deeper && export TASTE=sweet && echo in:$COLOUR<CR>")
    wait_for_screen(child, "shell", "in:blue")
    child:type([[<C-\><C-n>]])
    child:wait("vim.api.nvim_get_mode().mode == 'nt'")
    child:type("T")
    child:wait("not vim.wo.winbar:find('you have it', 1, true)")
    child:prompt("Where are we?")
    child:wait_for("So it is.")
    local result = vim.inspect(model.asked[#model.asked].messages)
    support.contains(result, place.project .. "/sub/deeper")
    support.contains(result, "blue sweet")
  end)
end

function T.what_runs_is_taken_over_and_ended_from_its_card()
  chat({ answers = { run("echo begun; sleep 1000"), { text = "It was ended." } } }, function(child)
    child:prompt("Wait long.")
    child:wait_for("Running")
    child:wait("require('azimuth.terminal.act').named(require('azimuth.client').session(), 'shell')")
    child:wait("require('azimuth.terminal.act').named(require('azimuth.client').session(), 'shell').running")
    to_line(child, "echo begun")
    child:type("T")
    child:wait("vim.bo.buftype == 'terminal'")
    child:wait_for("you have the terminal")
    to_line(child, "echo begun")
    child:type("T")
    child:wait("not require('azimuth.terminal.act').named(require('azimuth.client').session(), 'shell').taken")
    child:type("x")
    child:wait_for("It was ended.", 20000)
  end)
end

function T.a_server_in_the_background_is_listed_with_its_port_opened_and_ended()
  chat({
    answers = { calls("shell_start", { command = "python3 -u -m http.server --bind 127.0.0.1 0" }), { text = "It is up." } },
    files = { ["index.html"] = "<p>served</p>" },
  }, function(child)
    child:lua("vim.ui.open = function(url) _G.opened = url end")
    child:prompt("Serve it.")
    child:wait_for("It is up.", 20000)
    child:wait_for("job-1: up, port ")
    child:lua("vim.cmd.stopinsert()")
    child:command("Azimuth jobs")
    wait_for_float(child, "up, port ")
    child:lua("vim.fn.search('job-1', 'cw')")
    child:type("gx")
    local url = child:wait("_G.opened")
    local port = tonumber(url:match("^http://localhost:(%d+)$"))
    assert(port, url)
    local fetched = vim.system({ "curl", "--silent", ("http://127.0.0.1:%d/index.html"):format(port) }, { text = true }):wait()
    support.equal(fetched.stdout, "<p>served</p>")
    child:type("<CR>")
    child:wait("vim.bo.buftype == 'terminal'")
    support.contains(child:lua("return vim.api.nvim_buf_get_name(0)"), "azimuth://terminal/job-1 python3 -u -m http.server")
    wait_for_screen(child, "job-1", "/index.html")
    child:command("Azimuth jobs")
    wait_for_float(child, "job-1")
    child:lua("vim.fn.search('job-1', 'cw')")
    child:type("x")
    child:wait([[not table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("up, port", 1, true)]])
    child:wait("not require('azimuth.terminal.act').named(require('azimuth.client').session(), 'job-1').alive")
    local refused = vim.system({ "curl", "--silent", ("http://127.0.0.1:%d/"):format(port) }):wait()
    assert(refused.code ~= 0, "nothing listens any more")
  end)
end

function T.a_job_is_typed_into_and_its_end_is_told()
  chat({ answers = { calls("shell_start", { command = "cat; exit 3" }), { text = "It is up." } } }, function(child)
    child:prompt("Start it.")
    child:wait_for("It is up.", 20000)
    child:lua("vim.cmd.stopinsert()")
    child:command("Azimuth terminal job-1")
    child:wait("vim.bo.buftype == 'terminal'")
    child:type("i")
    child:wait("vim.api.nvim_get_mode().mode == 't'")
    child:type("echoed<CR>")
    child:wait(("select(2, %s:gsub('echoed', '')) == 2"):format(screen("job-1")))
    child:type("<C-d>")
    child:type([[<C-\><C-n>]])
    child:wait("vim.wo.winbar:find('exit code 3', 1, true)")
    child:wait_for("job-1: exit code 3")
    support.equal(child:lua("return vim.fn.getcompletion('Azimuth terminal ', 'cmdline')"), { "close", "kill", "shell", "job-1" })
  end)
end

function T.a_terminal_whose_buffer_was_deleted_comes_back_with_what_it_showed()
  chat({ answers = { run("for i in $(seq 40000); do echo line $i; done; echo over"), { text = "It ran." } } }, function(child)
    child:prompt("Run it.")
    child:wait_for("It ran.", 30000)
    child:lua("vim.cmd.stopinsert()")
    child:command("Azimuth terminal")
    wait_for_screen(child, "shell", "over", 20000)
    -- More than the server sends ahead came, so it was told how far we are.
    assert(child:lua("return require('azimuth.terminal.view').all()[1].acked") > 256 * 1024)
    child:command("bwipeout!")
    support.equal(child:lua("return #require('azimuth.terminal.view').all()"), 0)
    child:command("Azimuth terminal")
    wait_for_screen(child, "shell", "line 40000\nover", 20000)
    local _, count = child:lua("return " .. screen("shell")):gsub("\nover", "")
    support.equal(count, 1)
  end)
end

function T.what_is_printed_while_no_window_shows_it_comes_with_the_next_one()
  chat({ answers = { run("echo one; while [ ! -e go ]; do sleep 0.05; done; echo two"), { text = "It ran." } } }, function(child, _, place)
    child:prompt("Run it.")
    child:lua("vim.cmd.stopinsert()")
    child:wait("require('azimuth.client').state().terminals[1]")
    child:command("Azimuth terminal")
    wait_for_screen(child, "shell", "one")
    child:type("q")
    child:wait("not require('azimuth.terminal.view').all()[1].follows")
    support.write(place.project .. "/go", "")
    child:wait_for("It ran.")
    support.lacks(child:lua("return " .. screen("shell")), "two")
    child:command("Azimuth terminal")
    wait_for_screen(child, "shell", "two")
  end)
end

function T.a_command_of_the_users_own_runs_and_the_model_reads_of_one_and_not_of_the_other()
  chat({ answers = { { text = "I have read it." } }, settings = "" }, function(child, model)
    child:prompt("!echo seen-$((40 + 2))")
    child:wait_for("✓ echo seen-$((40 + 2))")
    child:wait_for("\nseen-42\n")
    child:prompt("!!echo unseen-$((40 + 3))")
    child:wait_for("not in the context")
    child:wait_for("\nunseen-43\n")
    support.equal(#model.asked, 0, "no model is asked")
    child:prompt("What did I run?")
    child:wait_for("I have read it.")
    local asked = vim.json.encode(model.asked[1].messages)
    support.contains(asked, "seen-42")
    support.lacks(asked, "unseen-43")
  end)
end

function T.a_command_of_the_users_own_that_waits_is_answered_from_its_card()
  chat({ answers = {}, settings = "" }, function(child)
    child:prompt("!" .. ASK_NAME)
    child:wait_for("waits for input")
    to_line(child, "  Name:")
    child:type("s")
    child:wait("vim.api.nvim_get_mode().mode == 'c'")
    child:type("Ada<CR>")
    child:wait_for("✓ read -p")
    child:wait_for("You typed: Ada")
    child:wait_for("hello Ada")
  end)
end

function T.a_command_of_the_users_own_runs_while_the_model_answers()
  chat({ answers = { held() }, settings = "" }, function(child, model)
    child:prompt("Think.")
    child:wait_for("I wait for it.")
    child:prompt("!echo meanwhile-$((1 + 1))")
    child:wait_for("meanwhile-2")
    assert(child:lua("return require('azimuth.client').state().running"), "the turn still runs")
    model:go_on()
    child:wait_for("Done")
  end)
end

function T.a_job_that_went_with_the_server_says_so_and_keeps_what_it_showed()
  chat({ answers = { calls("shell_start", { command = "echo up-$((6 * 7)); sleep 1000" }), { text = "It is up." } } }, function(child)
    child:prompt("Start it.")
    child:wait_for("It is up.", 20000)
    child:lua("vim.cmd.stopinsert()")
    child:command("Azimuth terminal job-1")
    wait_for_screen(child, "job-1", "up-42")
    local pid = child:lua("return tonumber(vim.fn.system({ 'pgrep', '-P', tostring(vim.fn.getpid()), '-x', 'azimuth' }))")
    vim.uv.kill(pid, "sigkill")
    child:wait("vim.wo.winbar:find('stopped', 1, true) or vim.wo.winbar:find('gone', 1, true)", 15000)
    wait_for_screen(child, "job-1", "up-42")
    child:command("Azimuth jobs")
    child:wait("vim.api.nvim_win_get_config(0).relative ~= ''")
    child:wait([[not table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("running", 1, true)]])
  end)
end

function T.bypass_is_confirmed_first_and_is_to_be_seen()
  chat({ answers = {}, settings = "" }, function(child)
    child:lua("vim.cmd.stopinsert()")
    child:command("Azimuth mode bypass")
    wait_for_float(child, "asked")
    child:type("q")
    child:wait("vim.api.nvim_win_get_config(0).relative == ''")
    support.equal(child:lua("return require('azimuth.client').state().mode"), "agent")
    child:command("Azimuth mode bypass")
    wait_for_float(child, "asked")
    child:type("y")
    child:wait("require('azimuth.client').state().mode == 'bypass'")
    support.contains(child:lua("return require('azimuth.status').get()"), "%#AzimuthBypass#BYPASS%*")
    child:wait("vim.wo[vim.fn.bufwinid('azimuth://chat')].winbar:find('BYPASS', 1, true)")
    child:command("Azimuth mode plan")
    child:wait("require('azimuth.client').state().mode == 'plan'")
    child:wait("vim.wo[vim.fn.bufwinid('azimuth://chat')].winbar:find('only plans', 1, true)")
  end)
end

function T.what_was_granted_is_listed_and_taken_back()
  chat({
    answers = { run("touch one"), { text = "One." }, run("touch two"), { text = "Two." } },
    settings = "",
  }, function(child)
    child:prompt("Touch one.")
    child:wait_for_question()
    to_transcript(child)
    child:type("S")
    child:wait_for("One.")
    child:command("Azimuth permissions")
    wait_for_float(child, "granted for the session")
    child:lua("vim.fn.search('granted for the session', 'cw')")
    child:type("x")
    wait_for_float(child, "allow")
    child:wait("vim.api.nvim_win_get_config(0).title[1][1]:find('Take this back', 1, true)")
    child:type("y")
    child:wait([[not table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("granted for the session", 1, true)]])
    child:type("q")
    child:prompt("Touch two.")
    child:wait_for_question()
  end)
end

function T.a_question_whose_answers_do_not_fit_beside_the_code_takes_more_room()
  chat({ answers = { { text = "Hello." } }, asks_trust = true, columns = 80, lines = 30 }, function(child)
    child:prompt("Hi.")
    child:wait_for_question()
    child:wait([[vim.iter(vim.api.nvim_list_wins()):any(function(window)
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      return vim.api.nvim_win_get_config(window).relative ~= ""
        and lines[#lines] == "[R] Do not trust"
        and vim.api.nvim_win_get_height(window) >= vim.api.nvim_win_text_height(window, {}).all
    end)]])
  end)
end

function T.a_command_outside_the_sandbox_is_asked_as_such_and_has_a_terminal_of_its_own()
  chat({ answers = { calls("shell_run", { command = "touch made; echo made-it", outside = true, why = "The sandbox refused it." }), { text = "It is made." } } }, function(child, _, place)
    child:prompt("Make it.")
    child:wait_for_question()
    support.contains(child:screen(), "Azimuth asks: outside the sandbox")
    support.contains(child:screen(), "The sandbox refused it.")
    to_transcript(child)
    child:type("a")
    child:wait_for("It is made.")
    assert(vim.uv.fs_stat(place.project .. "/made"))
    child:command("Azimuth terminal outside")
    wait_for_screen(child, "outside", "made-it")
    support.contains(child:lua("return vim.wo.winbar"), "outside the sandbox")
  end)
end

function T.a_folder_is_trusted_by_an_answer_and_no_longer_by_a_command()
  chat({ answers = { { text = "Hello." } }, asks_trust = true }, function(child)
    child:prompt("Hi.")
    child:wait_for_question()
    support.contains(child:screen(), "Azimuth asks: trust")
    to_transcript(child)
    child:type("A")
    child:wait_for("Hello.")
    child:command("Azimuth trust no")
    wait_for_message(child, "is not trusted")
    child:command("Azimuth trust yes")
    wait_for_message(child, "is trusted")
  end)
end

return T
