--- Taking back what a turn did to files, end to end: a real Neovim, the real server, a model that edits five files.

local models = require("model")
local support = require("support")

local T = {}

local files = {
  ["a.txt"] = "one\ntwo\nthree\n",
  ["b.txt"] = "one\ntwo\nthree\n",
  ["c.txt"] = "\239\187\191one\r\ntwo\r\n",
  ["src/d.txt"] = "one\n",
}

---@param path string
---@param old string
---@param new string
local function replace(path, old, new)
  return { name = "edit_replace_exact", input = { path = path, old_text = old, new_text = new } }
end

--- A turn over five files: two are changed, of another with CRLF a line, one is deleted and one is made.
---@return Answer[]
local function big_turn()
  return {
    {
      calls = {
        replace("a.txt", "one\n", "1\n"),
        replace("b.txt", "one\n", "1\n"),
        replace("c.txt", "two\n", "2\n"),
        { name = "edit_delete_file", input = { path = "src/d.txt" } },
        { name = "edit_create_file", input = { path = "new/e.txt", content = "e\n" } },
      },
    },
    { text = "All five are changed." },
  }
end

---@param place Place
local function assert_before(place, but)
  for path, text in pairs(files) do
    support.equal(support.read(place.project .. "/" .. path), (but or {})[path] or text, path)
  end
  support.equal(vim.uv.fs_stat(place.project .. "/new/e.txt"), nil)
end

---@param place Place
local function assert_after(place, but)
  local after = { ["a.txt"] = "1\ntwo\nthree\n", ["b.txt"] = "1\ntwo\nthree\n", ["c.txt"] = "\239\187\191one\r\n2\r\n", ["new/e.txt"] = "e\n" }
  for path, text in pairs(after) do
    support.equal(support.read(place.project .. "/" .. path), (but or {})[path] or text, path)
  end
  support.equal(vim.uv.fs_stat(place.project .. "/src/d.txt"), nil)
end

--- A Neovim with the chat open and edits accepted automatically.
---@param answers Answer[]
---@param test fun(child: Child, place: Place, model: Model)
---@param options? { open?: string }
local function session(answers, test, options)
  local place = support.place(files)
  local model = models.start(answers)
  support.use_model(place, model, "accept_edits = true")
  local child = support.start(place)
  local ok, problem = xpcall(function()
    if options and options.open then
      child:command("edit " .. options.open)
    end
    child:open_chat()
    test(child, place, model)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

---@param child Child
---@param prompt string
---@param answer string
local function turn(child, prompt, answer)
  child:prompt(prompt)
  child:wait_for(answer)
  child:wait("require('azimuth.client').state().running == nil")
  child:command("stopinsert")
end

--- Puts the cursor on a text in the transcript.
---@param child Child
---@param text string
local function go_to(child, text)
  child:lua("vim.api.nvim_set_current_win(require('azimuth.chat').window())")
  child:wait("vim.api.nvim_get_mode().mode == 'n'")
  assert(child:lua("vim.cmd('normal! gg') return vim.fn.search(..., 'cW')", "\\V" .. text) > 0, text .. " is not in the transcript")
end

--- The lines of the window that shows what would be done, or nothing where there is none.
---@param child Child
---@return string
local function window(child)
  return child:lua([[
    local settings = vim.api.nvim_win_get_config(0)
    if settings.relative == "" then
      return ""
    end
    local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
    for _, part in ipairs({ settings.title, settings.footer }) do
      table.insert(lines, part[1][1])
    end
    return table.concat(lines, "\n")
  ]])
end

---@param child Child
local function wait_for_window(child)
  child:wait("vim.api.nvim_win_get_config(0).relative ~= ''")
end

---@param child Child
---@param part string
local function wait_until_said(child, part)
  child:wait(("vim.iter(_G.said):any(function(said) return said[1]:find(%q, 1, true) end)"):format(part))
end

--- Has what the server answers, when it is asked what would be done, wait for `_G.go_on`.
---@param child Child
local function hold_previews(child)
  child:lua([[
    local client = require("azimuth.client")
    local method = require("azimuth.generated.protocol").requests.checkpoint_preview
    local request = client.request
    client.request = function(asked, params, callback)
      request(asked, params, asked ~= method and callback or function(...)
        local answer = { ... }
        _G.go_on = function() callback(answer[1], answer[2]) end
      end)
    end
  ]])
end

function T.a_turn_over_five_files_is_taken_back_from_its_message_and_put_again()
  session(big_turn(), function(child, place, model)
    turn(child, "Change all five.", "All five are changed.")
    child:wait("vim.fn.filereadable('new/e.txt') == 1 and vim.fn.filereadable('src/d.txt') == 0")
    assert_after(place)
    child:wait_for("You · changed 5 files\n")
    -- The user goes on with one of them.
    support.write(place.project .. "/b.txt", "1\ntwo\nthree and mine\n")

    go_to(child, "Change all five.")
    child:type("u")
    wait_for_window(child)
    local shown = window(child)
    support.contains(shown, " Undo: Change all five. ")
    support.contains(shown, "✓ a.txt      -1 +1")
    support.contains(shown, "– b.txt      left: it was changed since; if you confirm it, what was changed stays")
    support.contains(shown, "✓ c.txt      -1 +1")
    support.contains(shown, "✓ new/e.txt  is deleted")
    support.contains(shown, "✓ src/d.txt  is made again")
    support.contains(shown, "y undo in 4 files")
    assert_after(place, { ["b.txt"] = "1\ntwo\nthree and mine\n" })
    child:type("y")
    child:wait_for("Undone: 4 of 5 files")
    child:wait_for("– b.txt  left as it is: it was changed since")
    support.contains(child:transcript(), "You · changed 1 file, 4 undone")
    assert_before(place, { ["b.txt"] = "1\ntwo\nthree and mine\n" })
    wait_until_said(child, "undone: 4 of 5 files. Left as it is: b.txt")

    -- A file that was left is confirmed on its own, and keeps what the user wrote.
    child:type("u")
    wait_for_window(child)
    support.lacks(window(child), "a.txt")
    support.lacks(window(child), "y undo")
    child:type("yx")
    child:wait("vim.fn.getline('.'):find('restored anyway: what was changed stays', 1, true)")
    support.contains(window(child), "y undo in 1 file ")
    child:type("y")
    child:wait("table.concat(vim.fn.readfile('b.txt'), '|') == 'one|two|three and mine'")
    assert_before(place, { ["b.txt"] = "one\ntwo\nthree and mine\n" })

    child:wait_for("Undone: 1 of 1 file")
    support.contains(child:transcript(), "You · 5 files undone")
    child:type("<C-r>")
    wait_for_window(child)
    support.contains(window(child), "Redo: Change all five.")
    child:lua("vim.fn.search('b\\\\.txt', 'cw')")
    child:type("xy")
    child:wait("table.concat(vim.fn.readfile('b.txt'), '|') == '1|two|three and mine'")
    child:wait_for("Redone: 5 of 5 files")
    assert_after(place, { ["b.txt"] = "1\ntwo\nthree and mine\n" })
    support.contains(child:transcript(), "You · changed 5 files\n")

    table.insert(model.answers, { text = "Heard." })
    turn(child, "And now?", "Heard.")
    support.contains(vim.json.encode(model.asked[#model.asked].messages), "took back")
  end)
end

function T.an_open_document_goes_back_there_as_one_step_of_its_own_undo()
  session(big_turn(), function(child, place)
    local bufnr = child:lua("return vim.fn.bufnr('a.txt')")
    turn(child, "Change all five.", "All five are changed.")
    local function lines()
      return child:lua("return table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '|')", bufnr)
    end
    child:wait(("vim.api.nvim_buf_get_lines(%d, 0, 1, false)[1] == '1'"):format(bufnr))
    child:command("Azimuth chat")
    -- Elsewhere than in the chat, the last turn is meant.
    child:wait("vim.api.nvim_buf_get_name(0):find('a.txt', 1, true)")
    child:type(":Azimuth undo<CR>")
    wait_for_window(child)
    child:type("y")
    child:wait(("vim.api.nvim_buf_get_lines(%d, 0, 1, false)[1] == 'one'"):format(bufnr))
    wait_until_said(child, "undone: 5 of 5 files.")
    support.equal(lines(), "one|two|three")
    child:command("undo")
    support.equal(lines(), "1|two|three")
    child:command("redo")
    child:command("silent write")
    assert_before(place)
  end, { open = "a.txt" })
end

function T.a_made_file_that_is_open_goes_with_its_buffer_and_with_what_was_typed_into_it_only_when_that_is_confirmed()
  session(big_turn(), function(child, place)
    turn(child, "Change all five.", "All five are changed.")
    child:command("Azimuth chat")
    child:command("edit new/e.txt")
    local bufnr = child:lua("return vim.fn.bufnr('new/e.txt')")
    child:command("call setline(1, 'e and mine')")
    child:type(":Azimuth undo<CR>")
    wait_for_window(child)
    support.contains(window(child), "– new/e.txt  left: it was changed since")
    child:type("y")
    wait_until_said(child, "undone: 4 of 5 files.")
    support.equal(child:lua("return vim.api.nvim_buf_get_lines(..., 0, -1, false)[1]", bufnr), "e and mine")
    support.equal(support.read(place.project .. "/new/e.txt"), "e\n")

    -- As it was made, it goes.
    child:command("undo")
    child:command("silent write")
    child:open_chat()
    child:command("stopinsert")
    go_to(child, "Change all five.")
    child:type("u")
    wait_for_window(child)
    support.contains(window(child), "✓ new/e.txt  is deleted")
    child:type("y")
    child:wait(("not vim.api.nvim_buf_is_valid(%d)"):format(bufnr))
    wait_until_said(child, "undone: 1 of 1 file.")
    assert_before(place)
  end, { open = "a.txt" })
end

function T.a_file_is_not_deleted_where_its_buffer_is_another_than_the_server_knows()
  session({}, function(child, place)
    local answer = child:lua([[
      local client, bufnr = require("azimuth.client").lsp_client(), vim.fn.bufnr("a.txt")
      local uri, version = vim.uri_from_bufnr(bufnr), vim.lsp.util.buf_versions[bufnr]
      vim.api.nvim_buf_set_lines(bufnr, 0, 1, false, { "mine" })
      local document = { textDocument = { uri = uri, version = version }, edits = {} }
      local changes = { document, { kind = "delete", uri = uri } }
      local method = "workspace/applyEdit"
      return client.handlers[method](nil, { edit = { documentChanges = changes } }, { client_id = client.id, method = method })
    ]])
    support.equal(answer, { applied = false, failureReason = "the document has changed in the meantime" })
    support.equal(child:lua("return vim.fn.getbufline('a.txt', 1)[1]"), "mine")
    assert_before(place)
  end, { open = "a.txt" })
end

function T.back_to_a_message_takes_back_all_turns_after_it_too()
  local answers = {
    { calls = { replace("a.txt", "one\n", "1\n") } },
    { text = "First." },
    { calls = { replace("a.txt", "two\n", "2\n") } },
    { text = "Second." },
    { calls = { replace("b.txt", "one\n", "1\n") } },
    { text = "Third." },
  }
  session(answers, function(child, place)
    turn(child, "Do one.", "First.")
    turn(child, "Do two.", "Second.")
    turn(child, "Do three.", "Third.")
    child:wait("vim.fn.readfile('b.txt')[1] == '1'")
    go_to(child, "Do two.")
    child:type("U")
    wait_for_window(child)
    support.contains(window(child), "Undo: 2 turns from Do two.")
    child:type("y")
    child:wait_for("Undone: 2 of 2 files, 2 turns")
    support.equal(support.read(place.project .. "/a.txt"), "1\ntwo\nthree\n")
    support.equal(support.read(place.project .. "/b.txt"), files["b.txt"])
    -- Where it says so, the key of redo puts the same turns again.
    go_to(child, "Undone: 2 of 2")
    child:type("<C-r>")
    wait_for_window(child)
    support.contains(window(child), "Redo: 2 turns from Do two.")
    child:type("y")
    child:wait_for("Redone: 2 of 2 files, 2 turns")
    support.equal(support.read(place.project .. "/a.txt"), "1\n2\nthree\n")
    support.equal(support.read(place.project .. "/b.txt"), "1\ntwo\nthree\n")
    -- One turn alone leaves what a later one did to the same file.
    go_to(child, "Do one.")
    child:type("u")
    wait_for_window(child)
    support.contains(window(child), "a later turn changed it too")
    child:type("q")
    child:wait("vim.api.nvim_win_get_config(0).relative == ''")
    support.equal(support.read(place.project .. "/a.txt"), "1\n2\nthree\n")
  end)
end

function T.hunks_of_the_turn_that_are_undecided_are_rejected_with_it()
  session({ { calls = { replace("a.txt", "one\n", "1\n") } }, { text = "One waits." } }, function(child, place)
    child:command("Azimuth auto off")
    child:wait("require('azimuth.client').state().accept_edits == false")
    turn(child, "Propose.", "One waits.")
    go_to(child, "Propose.")
    child:type("u")
    wait_for_window(child)
    support.contains(window(child), "No file is changed by it.\n1 hunk that is undecided is rejected.")
    support.contains(window(child), "y rejects")
    child:type("y")
    wait_until_said(child, "what was undecided is rejected.")
    child:wait("require('azimuth.fold').pending(require('azimuth.client').state()) == 0")
    support.equal(support.read(place.project .. "/a.txt"), files["a.txt"])
  end)
end

function T.nothing_is_taken_back_where_there_is_nothing_or_a_turn_begins_meanwhile()
  local answers = vim.list_extend({ { text = "Just words." } }, big_turn())
  table.insert(answers, { text = "More words." })
  session(answers, function(child, place)
    child:command("Azimuth undo")
    wait_until_said(child, "there is nothing to undo.")
    turn(child, "Say something.", "Just words.")
    go_to(child, "Say something.")
    child:type("u")
    wait_until_said(child, "nothing was changed there.")
    turn(child, "Change all five.", "All five are changed.")
    child:command("wincmd p | Azimuth undo")
    wait_for_window(child)
    child:lua("require('azimuth.turn').send({ { type = 'text', text = 'Go on.' } })")
    wait_until_said(child, "a turn has begun. Nothing was undone")
    child:wait("vim.api.nvim_win_get_config(0).relative == ''")
    child:wait_for("More words.")
    child:wait("vim.fn.filereadable('new/e.txt') == 1")
    assert_after(place)
  end)
end

function T.while_a_turn_runs_nothing_is_shown_to_be_taken_back()
  local answers = big_turn()
  answers[2].held = true
  session(answers, function(child, place, model)
    child:prompt("Change all five.")
    child:wait("vim.fn.filereadable('new/e.txt') == 1 and vim.fn.filereadable('src/d.txt') == 0")
    child:command("stopinsert | wincmd p | Azimuth undo")
    wait_until_said(child, "a turn is running, and may be changing files.")
    -- One that begins before the answer has come is as good.
    hold_previews(child)
    model:go_on()
    child:wait("require('azimuth.client').state().running == nil")
    child:command("Azimuth undo")
    child:wait("_G.go_on ~= nil")
    table.insert(model.answers, { text = "More words.", held = true })
    child:lua("_G.said = {} require('azimuth.turn').send({ { type = 'text', text = 'Go on.' } })")
    child:wait("require('azimuth.client').state().running")
    child:lua("_G.go_on()")
    wait_until_said(child, "a turn is running, and may be changing files.")
    support.equal(window(child), "")
    assert_after(place)
    model:go_on()
  end)
end

function T.a_file_that_changes_while_the_list_stands_is_shown_anew_before_anything_is_done()
  session(big_turn(), function(child, place)
    turn(child, "Change all five.", "All five are changed.")
    go_to(child, "Change all five.")
    child:type("u")
    wait_for_window(child)
    support.contains(window(child), "y undo in 5 files")
    support.write(place.project .. "/b.txt", "1\ntwo\nthree and mine\n")
    child:type("y")
    wait_until_said(child, "files have changed in the meantime. Nothing was undone; look again.")
    support.contains(window(child), "– b.txt      left: it was changed since")
    support.contains(window(child), "y undo in 4 files")
    assert_after(place, { ["b.txt"] = "1\ntwo\nthree and mine\n" })
    -- The file is confirmed as it was shown.
    child:lua("vim.fn.search('b\\\\.txt', 'cw')")
    child:type("x")
    child:wait("vim.fn.getline('.'):find('restored anyway', 1, true)")
    support.write(place.project .. "/b.txt", "1\ntwo\nthree and yours\n")
    child:lua("_G.said = {}")
    child:type("y")
    wait_until_said(child, "files have changed in the meantime.")
    support.contains(window(child), "y undo in 4 files")
    child:type("y")
    child:wait_for("Undone: 4 of 5 files")
    assert_before(place, { ["b.txt"] = "1\ntwo\nthree and yours\n" })
  end)
end

function T.keys_that_are_typed_before_the_list_is_there_are_for_the_text_they_were_typed_in()
  session(big_turn(), function(child, place)
    turn(child, "Change all five.", "All five are changed.")
    child:command("Azimuth chat")
    child:wait("vim.api.nvim_buf_get_name(0):find('a.txt', 1, true)")
    hold_previews(child)
    local typed = {
      { "ggOmy", "vim.fn.getline(1) == 'my' and vim.api.nvim_get_mode().mode == 'i'" },
      { "jj", "vim.fn.line('.') == 3" },
      { "d", "vim.api.nvim_get_mode().mode == 'no'" },
      { "<C-w>v", "vim.fn.winnr('$') == 2" },
    }
    for _, keys in ipairs(typed) do
      child:lua("_G.go_on, _G.said = nil, {}")
      child:command("Azimuth undo")
      child:wait("_G.go_on ~= nil")
      child:type(keys[1])
      child:wait(keys[2])
      child:lua("_G.go_on()")
      wait_until_said(child, "you did something else in the meantime, so nothing was shown. :Azimuth undo asks again.")
      child:type("<Esc>")
      child:wait("vim.api.nvim_get_mode().mode == 'n'")
      support.equal(window(child), "")
    end
    -- The file that is open is not saved, and the rest is on the disk.
    support.equal(child:lua("return vim.api.nvim_buf_get_lines(0, 0, 2, true)"), { "my", "1" })
    assert_after(place, { ["a.txt"] = files["a.txt"] })
  end, { open = "a.txt" })
end

return T
