--- The chat, end to end: a real Neovim, the real server, a model that answers as it is told.

local models = require("model")
local support = require("support")

local T = {}

local script = "#!/bin/sh\necho $(($1 * 9 / 5 + 30))\necho two\necho three\n"

--- A place, a model with these answers and a Neovim with the chat open, for one test.
---@param answers Answer[]
---@param test fun(child: Child, model: Model, place: Place)
---@param options? table
local function chat(answers, test, options)
  options = options or {}
  local files = { ["src/temperature.sh"] = script, ["src/with blank.txt"] = "a blank\n" }
  local place = support.place(vim.tbl_extend("force", files, options.files or {}))
  local model = models.start(answers)
  if options.config then
    support.write(place.home .. "/config/azimuth/config.toml", options.config:format(model.url))
  elseif not options.no_model then
    support.use_model(place, model, options.toml)
  end
  local child = support.start(place, options)
  local ok, problem = xpcall(function()
    child:lua(options.before or "")
    child:open_chat()
    test(child, model, place)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

--- The key of the line of the transcript that holds a text.
---@param child Child
---@param words string
---@return string
local function key_of(child, words)
  for _, line in ipairs(vim.split(child:transcript(), "\n")) do
    local key = line:match("^%[(%d)%] ")
    if key and line:find(words, 1, true) then
      return key
    end
  end
  error(("no key does %q in:\n%s"):format(words, child:transcript()), 2)
end

function T.an_empty_chat_offers_what_to_try_and_where_to_go_on_and_says_how_it_is_set_up()
  chat({ { text = "Seven." }, { text = "It converts." } }, function(child)
    child:wait_for("Show me around this project")
    support.lacks(child:transcript(), "Go on with")
    child:prompt("Remember the number.")
    child:wait_for("Done")
    support.lacks(child:transcript(), "Try")
    child:command("Azimuth new")
    child:wait_for("Go on with")
    local line = "vim.api.nvim_win_get_cursor(vim.fn.bufwinid('azimuth://chat'))[1]"
    support.equal(child:lua("return " .. line), 1, "it is looked at from its beginning")
    local shown = child:transcript()
    support.contains(shown, "✓ Model: test/m")
    support.contains(shown, "✓ Rules: AGENTS.md")
    support.lacks(shown, "Seven.")

    -- The things to try follow the file that the user has before them.
    child:command("topleft vsplit src/temperature.sh")
    child:wait_for("Explain src/temperature.sh")

    -- Its number opens a session, in the transcript; and its line does.
    child:command("call win_gotoid(bufwinid('azimuth://chat'))")
    child:type("<Esc>" .. key_of(child, "Remember the number"))
    child:wait_for("Seven.")
    support.lacks(child:transcript(), "Go on with")
    child:command("Azimuth new")
    child:wait_for("Go on with")
    child:command("stopinsert")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    child:command("call win_gotoid(bufwinid('azimuth://chat')) | call search('Remember the number')")
    child:type("<CR>")
    child:wait_for("Seven.")

    -- And in the empty prompt: what is to be tried is put there, to be read and sent.
    child:command("Azimuth new")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    child:wait_for("Explain src/temperature.sh")
    child:type("<Esc>" .. key_of(child, "Explain src/temperature.sh"))
    child:wait("require('azimuth.input').text():find('Explain this file', 1, true)")
    support.contains(child:lua("return require('azimuth.input').text()"), "@src/temperature.sh")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    -- Written, a digit is a digit.
    child:type("<Esc>0i<lt>1>")
    child:wait("require('azimuth.input').text():find('<1>', 1, true)")
    child:type("<C-s>")
    child:wait_for("It converts.")
    child:wait(line .. " == vim.fn.line('$', vim.fn.bufwinid('azimuth://chat'))")
  end, { files = { ["AGENTS.md"] = "Use tabs.\n" } })
end

function T.an_empty_chat_says_what_is_missing_and_how_to_come_by_it()
  chat({}, function(child)
    child:wait_for("· No rules: ")
    child:wait_for("! No model")
    support.contains(child:transcript(), ":Azimuth accounts, :Azimuth key, or :Azimuth models")
    -- Who is asked for a key says nothing.
  end, { no_model = true, before = "vim.ui.select, vim.ui.input = function() end, function() end" })
end

function T.an_empty_chat_asks_once_what_to_try_for_all_files_that_are_only_passed()
  chat({}, function(child)
    child:wait_for("Show me around this project")
    child:command("topleft vsplit src/temperature.sh")
    child:wait_for("Explain src/temperature.sh")
    child:lua([[(function()
      local client = require("azimuth.client")
      local request = client.request
      _G.asked = {}
      client.request = function(method, params, ...)
        if method == "azimuth/prompt/beginnings" then
          table.insert(_G.asked, vim.fs.basename(vim.uri_to_fname(params.uri)))
        end
        return request(method, params, ...)
      end
    end)()]])
    -- In one go: how fast this is must not depend on how busy the machine is.
    child:lua([[(function()
      for _, name in ipairs({ "one.sh", "two.sh", "three.sh", "four.sh" }) do
        vim.cmd.edit(name)
      end
    end)()]])
    child:wait_for("Explain four.sh")
    support.equal(child:lua("return _G.asked"), { "four.sh" })
  end, { files = { ["one.sh"] = "a\n", ["two.sh"] = "b\n", ["three.sh"] = "c\n", ["four.sh"] = "d\n" } })
end

function T.an_empty_chat_goes_by_the_model_that_is_chosen_in_it()
  chat({}, function(child)
    child:wait_for("cannot be used")
    child:lua([[
      vim.ui.select = function(items, options, pick)
        for _, item in ipairs(items) do
          if options.format_item(item):find("test/m", 1, true) then
            return pick(item)
          end
        end
      end
    ]])
    child:command("Azimuth models")
    child:wait_for("✓ Model: test/m")
    support.lacks(child:transcript(), "cannot be used")
  end, {
    -- For the first of the two there is no key.
    config = 'model = "anthropic/claude-haiku-4-5"\n[providers.test]\nbase_url = "%s"\nkey = "k"\nwire = "openai-chat"\nmodels = ["m"]\n',
  })
end

function T.the_model_for_other_work_is_chosen_from_the_list_of_models()
  chat({}, function(child)
    child:wait_for("Model: test/m")
    child:lua([[
      _G.shown = {}
      -- Each list in its turn: the models, the roles, the models for plans, and for how long.
      local wanted = { "choose the model for other work", "plans: ", "test/m", "until Azimuth ends" }
      vim.ui.select = function(items, options, pick)
        local want = table.remove(wanted, 1)
        for at, item in ipairs(items) do
          local line = options.format_item and options.format_item(item) or item
          if want and line:find(want, 1, true) then
            table.insert(_G.shown, line)
            return pick(item, at)
          end
        end
      end
      _G.told = ""
      vim.notify = function(message) _G.told = _G.told .. message end
    ]])
    child:command("Azimuth models")
    child:wait([[_G.told:find("plans ask `test/m` until Azimuth ends", 1, true) ~= nil]])
    support.equal(child:lua("return _G.shown[2]"), "plans: no model of its own, that of the conversation")
  end)
end

function T.an_empty_chat_does_not_go_on_saying_what_is_mended()
  chat({}, function(child)
    child:wait_for("· Azimuth asks if you trust this folder")
    child:command("Azimuth trust no")
    child:wait_for("! This folder is not trusted")
    child:command("Azimuth trust yes")
    child:wait("not table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('azimuth://chat'), 0, -1, false), '\\n'):find('trust', 1, true)")
  end, { asks_trust = true })
end

function T.how_much_the_model_thinks_is_chosen_and_cycled()
  chat({ { text = "One." }, { text = "Two." } }, function(child, model)
    local function thinks(level)
      child:wait(([[(vim.wo[vim.fn.bufwinid("azimuth://chat")].winbar:match("thinking: (%%w+)") or "none") == %q]]):format(level))
    end
    child:lua([[
      vim.ui.select = function(items, options, pick)
        _G.offered = vim.tbl_map(options.format_item, items)
        pick("high")
      end
    ]])
    child:command("Azimuth thinking")
    thinks("high")
    support.equal(child:lua("return _G.offered"), { "* by itself", "  low", "  medium", "  high" })
    child:prompt("One.")
    child:wait_for("Done")
    support.equal(model.asked[1].reasoning_effort, "high")
    child:command("Azimuth thinking next")
    thinks("none")
    child:command("Azimuth thinking next")
    thinks("low")
    child:prompt("Two.")
    child:wait_for("Two.")
    support.equal(model.asked[2].reasoning_effort, "low")
    child:command("Azimuth thinking max")
    child:wait([[vim.iter(_G.said):any(function(said) return said[1]:find("it has low, medium, high", 1, true) end)]])
  end, {
    config = 'model = "test/m"\n[providers.test]\nbase_url = "%s"\nkey = "k"\nwire = "openai-chat"\nmodels = ["m"]\n'
      .. 'compat = { thinking = "reasoning_effort" }\n[[providers.test.model]]\nid = "m"\nthinking = "effort"\n',
  })
end

function T.the_model_is_told_that_the_user_is_in_neovim()
  chat({ { text = "Yes." } }, function(child, model)
    child:prompt("Where am I?")
    child:wait_for("Done")
    local version = vim.version()
    support.contains(vim.json.encode(model.asked[1].messages[1]), ("Editor: Neovim %d.%d."):format(version.major, version.minor))
  end)
end

function T.a_prompt_that_mentions_a_file_is_answered()
  chat({ { text = "The offset is **30**, and must be 32.\n\n```sh\necho 32\n```\n" } }, function(child, model)
    child:prompt("What is wrong in @src/temperature.sh ?")
    child:wait_for("Done")
    local shown = child:transcript()
    support.contains(shown, "What is wrong in @src/temperature.sh ?")
    support.contains(shown, "+ src/temperature.sh")
    support.contains(shown, "The offset is **30**, and must be 32.")
    support.contains(shown, "1.2k in, 300 out")
    support.contains(model:last_user(1), "* 9 / 5 + 30")
    support.equal(child:lua("return require('azimuth.input').text()"), "", "the input is empty again")
  end)
end

function T.a_mention_with_lines_sends_these_lines_only()
  chat({ { text = "Seen." } }, function(child, model)
    child:prompt("Explain @src/temperature.sh:3-4")
    child:wait_for("Done")
    support.contains(child:transcript(), "+ src/temperature.sh:3-4")
    support.contains(model:last_user(1), "echo three")
    support.lacks(model:last_user(1), "9 / 5")
  end)
end

function T.unsaved_text_and_new_files_are_what_the_model_reads()
  chat({ { text = "Seen." } }, function(child, model)
    child:command("topleft vnew src/new.txt")
    child:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'never saved' })")
    child:command("edit! src/temperature.sh")
    child:lua("vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'echo unsaved' })")
    child:prompt("Explain @src/temperature.sh")
    child:wait_for("Done")
    support.contains(model:last_user(1), "echo unsaved")
  end, { setup = "{}" })
end

function T.a_selection_is_attached_and_asked_about()
  chat({ { text = "Seen." } }, function(child, model)
    child:command("topleft vsplit src/temperature.sh")
    child:type("<Esc>ggjVj<Space>aa")
    child:wait("require('azimuth.input').text():find('@src/temperature.sh:2%-3')")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    child:type("why?<C-s>")
    child:wait_for("Done")
    support.contains(model:last_user(1), "echo two")
    support.lacks(model:last_user(1), "echo three")
  end)
end

function T.an_answer_streams_in_and_the_cursor_stays_where_the_user_reads()
  local long = {}
  for line = 1, 200 do
    table.insert(long, "Line " .. line)
  end
  chat({ { text = table.concat(long, "\n\n"), pieces = 40, pause = 20 } }, function(child)
    child:prompt("Count.")
    child:wait_for("Line 10")
    support.lacks(child:transcript(), "Line 200")
    -- The user goes up to read, and is left there.
    child:lua([[
      local window = vim.fn.bufwinid("azimuth://chat")
      vim.api.nvim_set_current_win(window)
      vim.api.nvim_win_set_cursor(window, { 5, 0 })
      _G.topline = vim.fn.line("w0", window)
    ]])
    child:wait_for("Line 200")
    child:wait_for("Done")
    support.equal(child:lua("return { vim.api.nvim_win_get_cursor(0)[1], vim.fn.line('w0') == _G.topline }"), { 5, true })
    -- Back at the end, the next answer is followed.
    child:type("<Esc>G")
    child:prompt("Again.")
    child:wait_for("no more answers")
    child:wait("vim.api.nvim_win_get_cursor(vim.fn.bufwinid('azimuth://chat'))[1] == vim.fn.line('$', vim.fn.bufwinid('azimuth://chat'))")
  end)
end

function T.the_diff_of_an_edit_grows_in_the_chat_until_its_call_is_whole()
  local input = { path = "long.txt", old_text = "line 2\nline 3\n", new_text = "line two\nline three\n" }
  local answers = {
    { calls = { { name = "read_file", input = { path = "long.txt" } } } },
    { text = "I change two lines.", calls = { { name = "edit_replace_exact", input = input } }, call_pieces = 30, held = true },
    { text = "Both are changed." },
  }
  chat(answers, function(child, model)
    child:prompt("Change it.")
    child:wait_for("◌ long.txt  +2 -2")
    child:wait_for("+line three")
    support.lacks(child:transcript(), "Editing long.txt")
    support.equal(child:lua([[
      local bufnr, namespace = vim.fn.bufnr("azimuth://chat"), vim.api.nvim_get_namespaces()["azimuth.transcript"]
      local groups
      -- The last lines may be there a moment before their marks.
      vim.wait(10000, function()
        groups = {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })) do
          local line = vim.api.nvim_buf_get_lines(bufnr, mark[2], mark[2] + 1, true)[1]
          groups[line] = line:match("^[-+]line") and mark[4].hl_group or nil
        end
        return vim.tbl_count(groups) == 4
      end)
      return groups
    ]]), {
      ["-line 2"] = "AzimuthDelete",
      ["-line 3"] = "AzimuthDelete",
      ["+line two"] = "AzimuthAdd",
      ["+line three"] = "AzimuthAdd",
    })
    model:go_on()
    child:wait_for("Both are changed.")
    local transcript = child:transcript()
    support.contains(transcript, "✓ Editing long.txt")
    support.lacks(transcript, "◌ long.txt")
    support.lacks(transcript, "\n+line two")
  end, { files = { ["long.txt"] = "line 1\nline 2\nline 3\n" } })
end

function T.the_diff_of_an_edit_goes_when_its_turn_is_cancelled()
  local input = { path = "long.txt", old_text = "line 2\n", new_text = "line two\n" }
  local answers = {
    { calls = { { name = "read_file", input = { path = "long.txt" } } } },
    { calls = { { name = "edit_replace_exact", input = input } }, call_pieces = 30, hang = true },
  }
  chat(answers, function(child)
    child:prompt("Change it.")
    child:wait_for("◌ long.txt  +1 -1")
    child:command("Azimuth cancel")
    child:wait_for("Cancelled")
    support.lacks(child:transcript(), "◌ long.txt")
    support.lacks(child:transcript(), "line two")
  end, { files = { ["long.txt"] = "line 1\nline 2\n" } })
end

function T.a_question_is_shown_with_its_scope_and_answered_by_key()
  chat({
    { text = "I run it.", calls = { { name = "shell_run", input = { command = "touch made.txt" } } } },
    { text = "It is made." },
  }, function(child, _, place)
    child:prompt("Make the file.")
    child:wait_for("[a] ")
    support.contains(child:transcript(), "touch made.txt")
    support.contains(child:transcript(), "[A] Always allow")
    -- The window is there, and the cursor is where it was: in the input, in insert mode.
    child:wait([[vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.api.nvim_win_get_config(w).relative ~= "" end)]])
    support.equal(child:lua("return { vim.api.nvim_get_mode().mode, vim.fn.bufname() }"), { "i", "azimuth://prompt" })
    child:type("aAr")
    child:wait("require('azimuth.input').text() == 'aAr'")
    support.equal(vim.uv.fs_stat(place.project .. "/made.txt"), nil, "typing answers nothing")
    child:type("<Esc><Space>ap")
    child:wait([[vim.api.nvim_win_get_config(0).relative ~= ""]])
    child:wait_for_question()
    child:type("a")
    child:wait_for("It is made.")
    assert(vim.uv.fs_stat(place.project .. "/made.txt"), "the command ran")
    support.equal(child:lua("return vim.fn.bufname()"), "azimuth://prompt", "the cursor is back")
    support.contains(child:transcript(), "Allow once")
  end)
end

function T.the_plan_is_edited_as_a_text_and_the_model_told_of_it()
  local steps = { { content = "Find it", status = "in_progress" }, { content = "Mend it", status = "pending" } }
  chat({
    { calls = { { name = "update_plan", input = { steps = steps } } } },
    { text = "Planned." },
    { text = "I go on." },
  }, function(child, model)
    child:prompt("Mend it.")
    child:wait_for("Planned.")
    child:wait_for("Done")
    child:type("<Esc>")
    child:command("Azimuth plan")
    child:wait([[vim.fn.bufname() == "azimuth://plan"]])
    support.equal(child:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), { "[>] Find it", "[ ] Mend it" })
    -- Tick the first, move it down, add one.
    child:type("<CR>ddpoTell them<Esc>:w<CR>")
    child:wait("not vim.bo.modified")
    child:wait_for("○ Mend it\n✓ Find it\n○ Tell them")
    child:command("quit")
    child:prompt("Go on.")
    child:wait_for("I go on.")
    local told = vim.json.encode(model.asked[3])
    support.contains(told, "The user changed the plan. It is now:\\n- pending: Mend it\\n- completed: Find it\\n- pending: Tell them")
  end, { toml = "plan_reminders = 0" })
end

function T.without_the_focus_a_notice_says_that_the_agent_is_done()
  chat({ { text = "First." }, { text = "Second." } }, function(child)
    child:lua("_G.told = {} vim.notify = function(words) table.insert(_G.told, words) end")
    child:prompt("One.")
    child:wait_for("First.")
    child:wait_for("Done")
    child:lua("vim.api.nvim_exec_autocmds('FocusLost', {})")
    child:prompt("Two.")
    child:wait_for("Second.")
    child:wait("#_G.told > 0")
    support.contains(child:lua("return _G.told[1]"), "Azimuth (One")
    support.contains(child:lua("return _G.told[1]"), "done.")
  end)
end

function T.a_form_of_the_model_is_filled_in_by_keys()
  local questions = {
    {
      header = "Storage",
      question = "Where are the notes kept?",
      options = { { label = "A file", description = "Easy to lose." }, { label = "SQLite", recommended = true } },
    },
    { header = "Tests", question = "Which tests?", multiple = true, options = { { label = "Unit" }, { label = "Fuzz" } } },
  }
  chat({
    { calls = { { name = "ask_user", input = { questions = questions } } } },
    { text = "Noted." },
  }, function(child, model)
    child:prompt("Keep my notes.")
    child:wait_for("2 questions: Storage, Tests")
    child:type("<Esc><Space>ap")
    child:wait([[vim.api.nvim_win_get_config(0).relative ~= ""]])
    local shown = child:lua([[return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')]])
    support.contains(shown, "Storage: Where are the notes kept?\n( ) A file\n    Easy to lose.\n(•) SQLite (recommended)\n( ) in your own words …")
    support.contains(shown, "[ ] Fuzz\n[ ] in your own words …\n\n[a] Send\n[r] Dismiss")
    child:wait_for_question()
    -- The first option takes the place of what is recommended; then the second of the next question, and own words.
    child:type("<Space><Tab><Tab><Tab><Tab><CR><Tab><CR>and a bench<CR>")
    child:wait([[vim.fn.getline(".") == "[x] and a bench"]])
    support.contains(child:lua([[return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')]]), "(•) A file\n    Easy to lose.\n( ) SQLite")
    child:type("a")
    child:wait_for("Noted.")
    support.contains(child:transcript(), "✓ Storage: A file; Tests: Fuzz, “and a bench”")
    local told = vim.json.encode(model.asked[2])
    support.contains(told, "- Storage: A file\\n- Tests: Fuzz; and in the user's own words: and a bench")
    support.equal(child:lua("return vim.fn.bufname()"), "azimuth://prompt", "the cursor is back")
  end)
end

function T.a_question_in_a_narrow_editor_hides_neither_the_code_nor_the_title()
  chat({ { text = "I run it.", calls = { { name = "shell_run", input = { command = "make test && ./deploy --dry-run" } } } } }, function(child)
    child:command("wincmd t | edit src/temperature.sh")
    child:prompt("Do the tests pass?")
    child:wait_for("[a] ")
    child:wait([[vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.api.nvim_win_get_config(w).relative ~= "" end)]])
    local screen = child:screen()
    for _, part in ipairs({ "echo $(($1 * 9 / 5 + 30))", " Do the tests pass? · test/m", "[a] Allow once", "[r] Reject", " ap goes here", "<C-c> cancels", " Prompt" }) do
      support.contains((screen:gsub("<Space>", " ")), part)
    end
    support.lacks(screen, "azimuth://")
  end, { columns = 80, lines = 30 })
end

function T.a_status_line_of_the_users_own_is_left_alone()
  chat({}, function(child)
    support.equal(child:lua("return vim.wo[vim.fn.bufwinid('azimuth://prompt')].statusline"), " Prompt")
  end)
  local place = support.place({})
  support.use_model(place, models.start({}))
  local child = support.start(place)
  child:command("set statusline=%f\\ mine laststatus=3")
  child:open_chat()
  child:wait("vim.wo[vim.fn.bufwinid('azimuth://chat')].winbar ~= ''")
  support.equal(child:lua("return vim.wo[vim.fn.bufwinid('azimuth://prompt')].statusline"), "%f mine")
  child:stop()
end

function T.a_question_can_be_answered_in_the_transcript()
  chat({
    { calls = { { name = "shell_run", input = { command = "touch made.txt" } } } },
    { text = "All right, not." },
    { text = "All right, not." },
  }, function(child, _, place)
    child:prompt("Make the file.")
    child:wait_for("[a] ")
    child:lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(vim.fn.bufwinid('azimuth://chat'))")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    child:wait_for_question()
    child:type("r")
    child:wait_for("Done")
    support.equal(vim.uv.fs_stat(place.project .. "/made.txt"), nil)
    support.contains(child:transcript(), "Reject")
  end)
end

function T.several_questions_are_asked_one_after_the_other()
  chat({
    {
      calls = {
        { name = "shell_run", input = { command = "touch one.txt" } },
        { name = "shell_run", input = { command = "touch two.txt" } },
      },
    },
    { text = "Both are made." },
  }, function(child, _, place)
    child:prompt("Make them.")
    child:wait_for("[a] ")
    child:lua("vim.cmd.stopinsert()")
    for _ = 1, 2 do
      child:wait("#require('azimuth.client').state().questions > 0")
      local id = child:lua("return require('azimuth.client').state().questions[1].permissionId")
      child:command("Azimuth permission")
      child:wait([[vim.api.nvim_win_get_config(0).relative ~= ""]])
      child:wait_for_question()
      child:type("a")
      child:wait(([[(function()
        local first = require("azimuth.client").state().questions[1]
        return not first or first.permissionId ~= %q
      end)()]]):format(id))
    end
    child:wait_for("Both are made.")
    assert(vim.uv.fs_stat(place.project .. "/one.txt") and vim.uv.fs_stat(place.project .. "/two.txt"))
    child:wait([[not vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.api.nvim_win_get_config(w).relative ~= "" end)]])
  end)
end

--- Answers the question that stands by a key that is held down until another question has taken its place.
---@param child Child
---@param place Place
---@param unread string The file that the second question's command makes.
local function hold_the_key(child, place, unread)
  child:wait_for_question()
  local first = child:lua("return require('azimuth.permission').open()[1].request.permissionId")
  child:wait([[(function()
    vim.api.nvim_input("a")
    return vim.iter(_G.said):any(function(said) return said[1]:find("has only just come up", 1, true) end)
  end)()]])
  child:type("am")
  local second = child:lua("return require('azimuth.permission').open()[1].request.permissionId")
  assert(second ~= first, "the second question stands")
  child:wait(([[require("azimuth.permission").takes_keys(%q)]]):format(second))
  support.equal(vim.uv.fs_stat(place.project .. "/" .. unread), nil, "nobody has read the second question")
  child:type("a")
  assert(vim.wait(5000, function()
    return vim.uv.fs_stat(place.project .. "/" .. unread) ~= nil
  end, 20), "the second command runs once it was answered")
end

function T.a_key_held_down_in_the_transcript_allows_nothing_that_nobody_has_read()
  chat({
    {
      calls = {
        { name = "shell_run", input = { command = "touch one.txt" } },
        { name = "shell_run", input = { command = "touch two.txt" } },
      },
    },
    { text = "Both are done." },
  }, function(child, _, place)
    child:prompt("Make them.")
    child:wait_for("[a] ")
    child:lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(vim.fn.bufwinid('azimuth://chat'))")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    hold_the_key(child, place, "two.txt")
  end)
end

function T.a_key_held_down_in_the_questions_window_allows_nothing_that_nobody_has_read()
  chat({
    { calls = { { name = "shell_run", input = { command = "touch older.txt" } } } },
    { calls = { { name = "shell_run", input = { command = "touch newer.txt" } } } },
    { text = "Done with it." },
    { text = "Done with it." },
  }, function(child, _, place)
    child:prompt("Make one.")
    child:wait_for("touch older.txt")
    child:wait_for("[a] ")
    child:command("Azimuth new")
    child:wait("require('azimuth.client').state().entries[1] == nil")
    child:prompt("Make another.")
    child:wait_for("[a] ")
    child:lua("vim.cmd.stopinsert()")
    child:command("Azimuth permission")
    child:wait([[vim.api.nvim_win_get_config(0).relative ~= ""]])
    hold_the_key(child, place, "older.txt")
  end)
end

function T.the_questions_window_says_what_the_session_says_after_the_server_was_killed()
  chat({
    { calls = { { name = "shell_run", input = { command = "touch made.txt" } } } },
    { text = "It is made." },
    { text = "It is made." },
  }, function(child)
    child:prompt("Make the file.")
    child:wait_for("[a] ")
    local pid = child:lua("return tonumber(vim.fn.system({ 'pgrep', '-P', tostring(vim.fn.getpid()), '-x', 'azimuth' }))")
    vim.uv.kill(pid, "sigkill")
    child:wait("require('azimuth.client').state().running == nil")
    -- The server decides whether the call is asked for again or counts as cut off; the window follows it.
    child:wait([[(function()
      local floats = vim.iter(vim.api.nvim_list_wins()):filter(function(w)
        return vim.api.nvim_win_get_config(w).relative ~= ""
      end):totable()
      return #floats == #require("azimuth.client").state().questions
    end)()]])
    child:lua("vim.cmd.stopinsert()")
    child:command("Azimuth continue")
    child:wait([[(function()
      local state, open = require("azimuth.client").state(), require("azimuth.permission").open()[1]
      return state.entries[#state.entries].stop_reason == "end_turn"
        or open and require("azimuth.permission").takes_keys(open.request.permissionId)
    end)()]])
    if child:lua("return #require('azimuth.client').state().questions") > 0 then
      child:command("Azimuth permission")
      child:wait([[vim.api.nvim_win_get_config(0).relative ~= ""]])
      child:type("a")
    end
    child:wait_for("It is made.")
  end)
end

function T.cancelling_ends_the_turn_at_once()
  chat({ { text = "I think about it for long.", hang = true }, { text = "I go on." }, { text = "Here again." } }, function(child)
    child:prompt("Think.")
    child:wait_for("for long.")
    local began = vim.uv.hrtime()
    child:type("<C-c>")
    child:wait("require('azimuth.client').state().running == nil")
    local took = (vim.uv.hrtime() - began) / 1e6
    io.stdout:write(("     cancelled within %.0f ms\n"):format(took))
    assert(took < 1000, ("the cancel took %d ms"):format(took))
    child:wait_for("Cancelled; :Azimuth continue resumes it")
    child:command("Azimuth continue")
    child:wait_for("I go on.")
    child:prompt("Are you there?")
    child:wait_for("Here again.")
  end)
end

function T.a_prompt_breaks_off_what_runs_and_a_waiting_one_goes_first()
  chat({
    { text = "I think about it for long.", hang = true },
    { text = "At once." },
    { text = "The second." },
    { text = "The first." },
  }, function(child)
    child:prompt("Think.")
    child:wait_for("for long.")
    child:type("<Esc>")
    child:command("Azimuth queue first waits")
    child:wait_for("Waits, 1: first waits")
    child:command("Azimuth queue second waits")
    child:wait_for("Waits, 2: second waits")
    child:lua([[
      vim.ui.select = function(items, options, pick)
        for _, item in ipairs(items) do
          if options.format_item(item) == "2: let it go first: second waits" then
            return pick(item)
          end
        end
      end
    ]])
    child:command("Azimuth queue")
    child:wait_for("Waits, 1: second waits")
    child:command("Azimuth now Now this.")
    child:wait_for("The first.")
    local shown = child:transcript()
    local last = 0
    for _, words in ipairs({ "Cancelled", "Now this.", "At once.", "second waits", "The second.", "first waits", "The first." }) do
      last = assert(shown:find(words, last + 1, true), words .. " is not next in:\n" .. shown)
    end
  end)
end

function T.words_to_a_running_turn_are_steered_or_queued()
  chat({
    { calls = { { name = "shell_run", input = { command = "touch made.txt" } } } },
    { text = "First turn over." },
    { text = "Second turn over." },
  }, function(child, model)
    child:prompt("Begin.")
    child:wait_for("[a] ")
    child:prompt("Mind the gap.")
    child:wait_for("Waits, 1: Mind the gap.")
    child:type("And then this.<C-q>")
    child:wait_for("Waits, 2: And then this.")
    child:lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(vim.fn.bufwinid('azimuth://chat'))")
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    child:wait_for_question()
    child:type("a")
    child:wait_for("Second turn over.")
    support.contains(child:transcript(), "You, to the running turn")
    support.contains(vim.json.encode(model.asked[2]), "Mind the gap.")
    support.lacks(vim.json.encode(model.asked[2]), "And then this.")
    support.contains(vim.json.encode(model.asked[3]), "And then this.")
    support.lacks(child:transcript(), "Waits, ")
  end)
end

function T.a_hand_over_is_read_corrected_in_a_buffer_and_taken_back()
  local long = ("word "):rep(2000)
  local answers = { { text = long }, { text = "### Next step\nWrite the printer." }, { text = "SAME" }, { text = "Tens." }, { text = "All." } }
  chat(answers, function(child, model)
    child:prompt("Never use tabs.")
    child:wait_for("Done")
    child:command("Azimuth compact --keep-last 0 the printer")
    child:wait_for("A handover replaces the earlier part of the conversation")
    child:wait_for("Write the printer.")
    child:wait_for("The facts, from the log")
    child:command("Azimuth handover")
    child:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'Ten, not eleven.' })")
    child:command("write")
    child:wait_for("Your notes:")
    child:command("quit")
    child:prompt("Go on.")
    child:wait_for("Tens.")
    local asked = vim.json.encode(model.asked[4])
    support.contains(asked, "azimuth_handover")
    support.contains(asked, "Ten, not eleven.")
    support.contains(asked, "Never use tabs.")
    support.lacks(asked, "word word")
    child:command("Azimuth handover undo")
    child:wait_for("The handover is taken back")
    child:prompt("And?")
    child:wait_for("All.")
    support.contains(vim.json.encode(model.asked[5]), "word word")
  end)
end

function T.a_killed_server_is_started_again_and_the_session_stands()
  chat({ { text = "Before the crash." }, { text = "I go on, slowly, with this.", hang = true }, { text = "Gone on with." }, { text = "After the crash." } }, function(child, model)
    child:command("topleft vsplit src/temperature.sh")
    child:prompt("One.")
    child:wait_for("Before the crash.")
    child:wait_for("Done")
    child:prompt("Two.")
    child:wait_for("slowly")
    local session = child:lua("return require('azimuth.client').session()")
    local pid = child:lua("return tonumber(vim.fn.system({ 'pgrep', '-P', tostring(vim.fn.getpid()), '-x', 'azimuth' }))")
    vim.uv.kill(pid, "sigkill")
    child:wait("require('azimuth.client').lsp_client() == nil")
    -- A request in the meantime waits for the new server.
    child:lua("require('azimuth.client').request('azimuth/session/list', {}, function(err, result) _G.listed = err or #result.sessions end)")
    child:wait("_G.listed == 1")
    child:wait("require('azimuth.client').state().running == nil")
    child:wait_for("Interrupted")
    support.equal(child:lua("return require('azimuth.client').session()"), session)
    support.contains(child:transcript(), "Before the crash.")
    support.contains(table.concat(vim.tbl_map(function(said)
      return said[1]
    end, child:lua("return _G.said")), "\n"), "is started again (1 of 5)")
    child:command("Azimuth continue")
    child:wait_for("Gone on with.")
    child:wait("require('azimuth.client').state().running == nil")
    -- The open document is known to the new server, too.
    child:lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('src/temperature.sh'), 0, 1, false, { '# typed since' })")
    child:prompt("Three: @src/temperature.sh")
    child:wait_for("After the crash.")
    support.contains(model:last_user(), "# typed since")
  end)
end

function T.a_server_that_dies_again_and_again_is_given_up_with_words()
  chat({}, function(child)
    for _ = 1, 6 do
      child:wait("require('azimuth.client').lsp_client() ~= nil")
      local pid = child:lua("return tonumber(vim.fn.system({ 'pgrep', '-P', tostring(vim.fn.getpid()), '-x', 'azimuth' }))")
      vim.uv.kill(pid, "sigkill")
      child:wait("require('azimuth.client').lsp_client() == nil")
    end
    child:wait([[vim.iter(_G.said):any(function(said) return said[1]:find(":Azimuth restart tries again", 1, true) end)]])
    child:command("Azimuth restart")
    child:wait("require('azimuth.client').lsp_client() ~= nil")
  end)
end

function T.tomorrow_the_session_is_opened_again()
  local place = support.place({})
  support.use_model(place, models.start({ { text = "Remember **this**." } }))
  local child = support.start(place)
  child:open_chat()
  child:prompt("A thing to remember.")
  child:wait_for("Done")
  local session = child:lua("return require('azimuth.client').session()")
  child:stop()
  child = support.start(place)
  child:open_chat()
  child:wait_for("Remember **this**.")
  support.equal(child:lua("return require('azimuth.client').session()"), session)
  -- The prompts of before are the history of the input.
  child:lua("require('azimuth.chat').focus_input()")
  child:type("<Up>")
  child:wait("require('azimuth.input').text() == 'A thing to remember.'")
  child:type("<Down>")
  child:wait("require('azimuth.input').text() == ''")
  child:stop()
end

function T.a_draft_outlives_the_editor()
  local place = support.place({})
  support.use_model(place, models.start({}))
  local child = support.start(place)
  child:open_chat()
  child:lua("require('azimuth.chat').focus_input()")
  child:type("not yet sent")
  child:wait("require('azimuth.input').text() == 'not yet sent'")
  child:stop()
  child = support.start(place)
  child:open_chat()
  child:wait("require('azimuth.input').text() == 'not yet sent'")
  local drafts = vim.fn.glob(place.home .. "/state/nvim/azimuth/draft-*", true, true)
  support.equal(#drafts, 1)
  support.equal(vim.uv.fs_stat(drafts[1]).mode % 512, tonumber("600", 8), "only the user can read it")
  child:lua("require('azimuth.input').set_text('')")
  child:stop()
  support.equal(vim.uv.fs_stat(drafts[1]), nil, "what was taken and deleted is gone")
end

function T.a_draft_belongs_to_its_project_and_to_who_wrote_it()
  local place = support.place({})
  support.use_model(place, models.start({}))
  local other = support.place({})
  local elsewhere = { home = place.home, project = other.project }
  local function draft(at, text)
    local child = support.start(at)
    child:open_chat()
    child:lua("require('azimuth.input').set_text(...)", text)
    return child
  end
  draft(place, "of the first project"):stop()
  draft(elsewhere, "of the second project"):stop()
  local child, second = support.start(place), support.start(elsewhere)
  for at, said in pairs({ [child] = "of the first project", [second] = "of the second project" }) do
    at:open_chat()
    support.equal(at:lua("return require('azimuth.input').text()"), said)
    at:lua("require('azimuth.input').set_text('')")
  end
  -- Another Neovim of the same project leaves a draft while the first has none any more.
  draft(place, "written beside it"):stop()
  child:stop()
  second:stop()
  child = support.start(place)
  child:open_chat()
  support.equal(child:lua("return require('azimuth.input').text()"), "written beside it")
  child:stop()
end

function T.a_question_asked_by_command_leaves_the_draft_alone()
  chat({ { text = "Seen." }, { text = "Seen again." } }, function(child, model)
    child:lua("require('azimuth.input').set_text('an old draft')")
    child:command("Azimuth ask why so?")
    child:wait_for("Seen.")
    child:wait("require('azimuth.client').state().running == nil")
    child:command("topleft split src/temperature.sh")
    child:command("2,3Azimuth ask and these?")
    child:wait_for("Seen again.")
    support.equal(child:lua("return require('azimuth.input').text()"), "an old draft")
    support.contains(model:last_user(1), "why so?")
    support.contains(model:last_user(2), "and these?")
    support.contains(model:last_user(2), "echo two")
    support.lacks(vim.json.encode(model.asked), "an old draft")
  end)
end

function T.a_server_that_hangs_is_killed_by_a_restart()
  chat({ { text = "Here again." } }, function(child)
    local find = "tonumber(vim.fn.system({ 'pgrep', '-P', tostring(vim.fn.getpid()), '-x', 'azimuth' }))"
    local pid = child:lua("return " .. find)
    vim.uv.kill(pid, "sigstop")
    child:command("Azimuth restart")
    child:wait(("%s ~= %d and require('azimuth.client').lsp_client() ~= nil"):format(find, pid))
    support.contains(vim.inspect(child:lua("return _G.said")), "did not exit, so it is killed")
    child:prompt("Are you there?")
    child:wait_for("Here again.")
  end)
end

function T.a_chat_in_which_nothing_was_said_goes_on_after_a_restart_without_a_word()
  chat({ { text = "Here again." } }, function(child)
    local before = child:lua("return require('azimuth.client').session()")
    child:command("Azimuth restart")
    child:wait(("(require('azimuth.client').session() or %q) ~= %q"):format(before, before))
    child:prompt("Are you there?")
    child:wait_for("Here again.")
    support.lacks(vim.inspect(child:lua("return _G.said")), "could not be opened")
  end)
end

function T.an_idle_session_that_is_left_is_closed_and_catches_up_when_it_is_opened_again()
  chat({ { text = "Seen." } }, function(child, _, place)
    child:prompt("First.")
    child:wait_for("Done")
    local id = child:lua("return require('azimuth.client').session()")
    local beside = support.start(place)
    beside:open_chat()
    support.equal(beside:lua("return require('azimuth.client').session()"), id)
    child:lua([[
      local client = require("azimuth.client")
      local request = client.request
      client.request = function(method, params, callback)
        request(method, params, method ~= "azimuth/session/close" and callback or function(...)
          callback(...)
          _G.closed = params.sessionId
        end)
      end
    ]])
    child:command("Azimuth new")
    child:wait(("_G.closed == %q"):format(id))
    beside:command("Azimuth rename Another title")
    beside:wait("require('azimuth.client').state().title == 'Another title'")
    child:lua("require('azimuth.client').request('azimuth/session/list', {}, function() _G.listed = true end)")
    child:wait("_G.listed")
    support.equal(child:lua("return require('azimuth.client').state(...).title", id), "First", "it is not followed any more")
    child:lua("require('azimuth.client').open_session(...)", id)
    child:wait("require('azimuth.client').state().title == 'Another title'")
    beside:stop()
  end)
end

function T.files_and_commands_are_completed_while_typing()
  chat({}, function(child)
    child:lua("require('azimuth.chat').focus_input()")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    child:type("see é𝄞 @with")
    child:wait("vim.fn.pumvisible() == 1")
    child:type("<C-n><C-y>")
    child:wait("require('azimuth.input').text() == 'see é𝄞 @src/with blank.txt '")
    child:lua("require('azimuth.input').set_text('')")
    child:type("/mod")
    child:wait("vim.fn.pumvisible() == 1")
    support.contains(vim.inspect(child:lua("return vim.fn.complete_info({ 'items' }).items")), "/mode")
  end)
end

function T.a_completed_path_with_a_blank_is_sent_as_a_file()
  chat({ { text = "Seen." } }, function(child, model)
    child:lua("require('azimuth.chat').focus_input()")
    child:wait("vim.api.nvim_get_mode().mode == 'i'")
    child:type("see @with")
    child:wait("vim.fn.pumvisible() == 1")
    child:type("<C-n><C-y><C-s>")
    child:wait_for("Done")
    support.contains(model:last_user(1), "a blank")
  end)
end

function T.hostile_answers_stay_text()
  local marker = "os.execute('touch owned')"
  local hostile = table.concat({
    "<script>alert(1)</script> [x](command:evil) \27]0;title\7 \27[2J",
    "vim: set foldexpr=execute('!touch\\ owned') :",
    "right \226\128\174 left",
    "%{system('touch owned')} %!v:lua." .. marker,
    ("x"):rep(1000000),
    "```open fence",
  }, "\n")
  chat({ { text = hostile }, { text = "## After" } }, function(child, _, place)
    child:lua("require('azimuth.input').send_text(...)", "%{system('touch owned')} \27]0;title\7 \226\128\174")
    child:wait_for("Done")
    child:lua([[
      vim.cmd.stopinsert()
      vim.api.nvim_win_set_cursor(vim.fn.bufwinid("azimuth://chat"), { 1, 0 })
    ]])
    local screen = child:screen()
    support.contains(screen, "<script>alert(1)</script> [x](command:evil)")
    support.contains(screen, "^[]0;title^G ^[[2J")
    support.contains(screen, "right <202e> left")
    assert(not screen:gsub("\n", ""):find("%c"), "no control character is on the screen")
    -- The screen holds no character that turns the direction of others: U+202A to U+202E, and U+2066 to U+2069.
    assert(not screen:find("\226\128[\170-\174]") and not screen:find("\226\129[\166-\169]"), "no override is on the screen")
    local shown = child:transcript()
    support.contains(shown, "bytes)")
    assert(#shown < 20000, "the long line is cut in the view")
    support.contains(shown, "```open fence\n```\n")
    support.equal(vim.uv.fs_stat(place.project .. "/owned"), nil)
    support.equal(child:lua("return vim.bo[vim.fn.bufnr('azimuth://chat')].modeline"), false)
    local bar = child:lua([[return vim.api.nvim_eval_statusline(vim.wo[vim.fn.bufwinid("azimuth://chat")].winbar, {}).str]])
    support.contains(bar, "%{system")
  end)
end

function T.each_tab_page_has_its_own_chat()
  chat({ { text = "Seen in both." } }, function(child)
    local function shown()
      return child:lua([[
        return vim.iter(vim.api.nvim_list_tabpages()):map(function(tabpage)
          return vim.iter(vim.api.nvim_tabpage_list_wins(tabpage)):map(function(window)
            return (vim.fn.bufname(vim.api.nvim_win_get_buf(window)):gsub("azimuth://", ""))
          end):join(" ")
        end):totable()
      ]])
    end
    local typing = "vim.api.nvim_get_mode().mode == 'i'"
    child:wait(typing)
    child:command("stopinsert | tabnew")
    child:wait("not (" .. typing .. ")")
    child:command("Azimuth")
    child:wait(typing)
    support.equal(shown(), { " chat prompt", " chat prompt" })
    child:prompt("Say it.")
    child:wait_for("Seen in both.")
    support.equal(child:lua([[
      return vim.iter(vim.fn.win_findbuf(vim.fn.bufnr("azimuth://chat"))):map(function(window)
        return vim.api.nvim_win_get_cursor(window)[1] == vim.fn.line("$", window)
      end):totable()
    ]]), { true, true }, "both follow the answer")
    child:command("stopinsert | tabnext")
    child:command("Azimuth")
    support.equal(shown(), { "", " chat prompt" }, "the chat of the first tab page is closed, and no other")
    child:command("Azimuth")
    child:wait(typing)
    child:command("stopinsert | tabnext")
    child:lua("vim.api.nvim_win_close(vim.fn.bufwinid('azimuth://chat'), true)")
    child:wait("#vim.api.nvim_tabpage_list_wins(0) == 1")
    support.equal(shown(), { " chat prompt", "" }, "an input goes with its transcript")
  end)
end

function T.tool_calls_fold_and_unfold()
  chat({ { calls = { { name = "read_file", input = { path = "src/temperature.sh" } } } }, { text = "Read." } }, function(child)
    child:prompt("Read it.")
    child:wait_for("Done")
    child:lua([[
      vim.cmd.stopinsert()
      vim.api.nvim_set_current_win(vim.fn.bufwinid("azimuth://chat"))
      vim.fn.cursor(1, 1)
      vim.fn.search("Reading src")
    ]])
    child:wait("vim.api.nvim_get_mode().mode == 'n'")
    child:wait("vim.fn.foldclosed('.') == vim.fn.line('.')")
    assert(child:lua("return vim.fn.foldclosedend('.') > vim.fn.line('.')"), "the detail is in the fold")
    child:type("<Tab>")
    child:wait("vim.fn.foldclosed('.') == -1")
    child:type("<CR>")
    child:wait("vim.api.nvim_win_get_config(0).relative ~= ''")
    support.contains(child:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')"), "echo three")
    child:type("q")
    child:wait("vim.api.nvim_win_get_config(0).relative == ''")
    -- A chat that is closed and opened again is folded as before.
    child:command("Azimuth chat")
    child:wait("vim.fn.bufwinid('azimuth://chat') == -1")
    child:command("Azimuth chat")
    child:wait("vim.fn.bufwinid('azimuth://chat') ~= -1")
    support.equal(child:lua([[
      return vim.api.nvim_win_call(vim.fn.bufwinid("azimuth://chat"), function()
        return vim.fn.foldclosed(vim.fn.search("Reading src", "w")) > 0
      end)
    ]]), true)
  end)
end

function T.the_end_is_at_the_bottom_also_when_folds_close_above_it()
  local function read(line)
    return { calls = { { name = "read_file", input = { path = "src/temperature.sh", start_line = line } } } }
  end
  chat({ read(1), read(2), read(3), { text = "Read,\n\nthree\n\ntimes." } }, function(child)
    child:prompt("Read it.")
    child:wait_for("Done")
    local empty = child:lua([[
      vim.cmd.redraw()
      local window = vim.fn.bufwinid("azimuth://chat")
      local last = vim.fn.screenpos(window, vim.fn.line("$", window), 1).row
      return vim.fn.win_screenpos(window)[1] + vim.api.nvim_win_get_height(window) - 1 - last
    ]])
    support.equal(empty, 0, "rows below the end")
  end, { lines = 24 })
end

function T.a_model_is_chosen_and_a_mode_is_set()
  chat({ { text = "Seen." } }, function(child)
    child:lua([[
      vim.ui.select = function(items, options, pick)
        for _, item in ipairs(items) do
          if options.format_item(item):find(_G.wanted, 1, true) then
            _G.prompted = options.prompt
            return pick(item)
          end
        end
      end
    ]])
    child:lua("_G.wanted = 'ask: reads'")
    child:command("Azimuth mode")
    child:wait("require('azimuth.client').state().mode == 'ask'")
    child:wait([[vim.wo[vim.fn.bufwinid("azimuth://chat")].winbar:find("only asks", 1, true)]])
    -- The command without a mode asks for one, too, and is no prompt.
    child:lua("_G.wanted = 'agent: '")
    child:prompt("/mode")
    child:wait("require('azimuth.client').state().mode == 'agent'")
    support.lacks(child:transcript(), "/mode")
    child:lua("_G.wanted = 'test/m'")
    child:command("Azimuth models")
    child:wait("_G.prompted == 'Azimuth: model'")
    child:wait([[vim.iter(_G.said):any(function(said) return said[1]:find("the model is", 1, true) end)]])
    child:prompt("One.")
    child:wait_for("Done")
    local first = child:lua("return require('azimuth.client').session()")
    child:command("Azimuth new")
    child:wait(("require('azimuth.client').session() ~= %q"):format(first))
    support.lacks(child:transcript(), "Seen.")
    child:lua("_G.wanted = ' One'")
    child:command("Azimuth sessions")
    child:wait(("require('azimuth.client').session() == %q"):format(first))
    child:wait_for("Seen.")
  end)
end

function T.without_a_usable_model_a_key_is_asked_for_and_kept_from_others()
  local place = support.place({})
  local child = support.start(place)
  child:lua([[
    vim.ui.select = function(items, _, pick) pick(items[2]) end
    vim.fn.inputsecret = function() return "sk-secret" end
  ]])
  child:open_chat()
  local path = place.home .. "/data/nvim/azimuth/keys.json"
  assert(vim.wait(5000, function()
    return vim.uv.fs_stat(path) ~= nil
  end, 20))
  support.equal(vim.uv.fs_stat(path).mode % 512, tonumber("600", 8))
  child:wait([[(function()
    if _G.usable or _G.asking or not require("azimuth.client").lsp_client() then
      return _G.usable
    end
    _G.asking = true
    require("azimuth.client").request(require("azimuth.generated.protocol").requests.model_list, {}, function(err, result)
      _G.asking = false
      _G.usable = not err and vim.iter(result.models):any(function(model)
        return model.available and model.provider == "openai"
      end)
    end)
  end)()]], 15000)
  support.lacks(vim.inspect(child:lua("return _G.said")), "sk-secret")
  child:stop()
end

function T.a_program_that_is_no_azimuth_is_refused_with_words()
  local place = support.place({})
  local child = support.start(place, { setup = "{ cmd = { '/no/such/azimuth' } }" })
  child:lua("vim.schedule(function() vim.cmd('Azimuth chat') end)")
  child:wait([[vim.iter(_G.said):any(function(said) return said[1]:find("/no/such/azimuth", 1, true) end)]])
  child:stop()
end

return T
