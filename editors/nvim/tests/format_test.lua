--- Formatting by the language servers of the editor: real ones over stdio, in a real Neovim.

local models = require("model")
local support = require("support")

local T = {}

local file = "one  \ntwo 🦀  \nthree \n"

---@param child Child
---@param ... string What the language server is called, and can.
local function start_formatter(child, ...)
  child:lua(
    [[
      local command, names = ...
      local config = { name = names[1], cmd = vim.list_extend(command, names), root_dir = vim.fn.getcwd() }
      _G.started = vim.lsp.start(config, { bufnr = _G.bufnr })
    ]],
    { vim.v.progpath, "--clean", "--headless", "-l", support.plugin .. "/tests/formatter.lua" },
    { ... }
  )
  child:wait("vim.lsp.get_client_by_id(_G.started).initialized == true")
end

--- Asks as the server does, and gives what the plugin answers.
---@param child Child
---@param more? table Of the parameters.
---@return { text?: string, by?: string }
local function formatted(child, more)
  child:lua(
    [[
      _G.answer = nil
      local own = require("azimuth.client").lsp_client()
      local method = require("azimuth.generated.protocol").client_requests.editor_format
      local params = { uri = vim.uri_from_bufnr(_G.bufnr), version = vim.lsp.util.buf_versions[_G.bufnr] }
      params = vim.tbl_extend("force", params, ...)
      coroutine.wrap(function()
        _G.answer = own.handlers[method](nil, params, { client_id = own.id, method = method })
      end)()
    ]],
    more or vim.empty_dict()
  )
  return child:lua("return _G.answer or 'waits'")
end

---@param child Child
---@param more? table
local function answer(child, more)
  formatted(child, more)
  return child:wait("_G.answer")
end

---@param test fun(child: Child, place: Place, model: Model)
---@param settings? string Of the server.
local function with_file(test, settings)
  local place = support.place({ ["a.txt"] = file })
  local model = models.start({})
  support.use_model(place, model, settings)
  local child = support.start(place)
  local ok, problem = xpcall(function()
    child:command("edit a.txt")
    child:lua("_G.bufnr = vim.api.nvim_get_current_buf()")
    child:open_chat()
    child:command("stopinsert | Azimuth chat")
    test(child, place, model)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

function T.a_language_server_of_the_editor_formats_and_nothing_is_changed_by_asking()
  with_file(function(child)
    start_formatter(child, "trimmer", "document")
    support.equal(answer(child), { text = "one\ntwo 🦀\nthree\n", by = "trimmer" })
    support.equal(child:lua("return vim.api.nvim_buf_get_lines(_G.bufnr, 0, -1, true)"), { "one  ", "two 🦀  ", "three " })
    support.equal(child:lua("return { vim.bo[_G.bufnr].modified, vim.o.eventignore, #vim.fn.getbufinfo({ buflisted = 1 }) }"), { false, "", 1 })
    -- What is not saved is formatted, too.
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed   ' })")
    support.equal(answer(child).text, "typed\ntwo 🦀\nthree\n")
  end)
end

function T.lines_are_formatted_by_a_server_that_can_format_a_part()
  with_file(function(child)
    start_formatter(child, "whole", "document")
    support.equal(answer(child, { lines = { { start = 0, ["end"] = 1 } } }), {})
    start_formatter(child, "parts", "document", "range", "utf-8")
    support.equal(answer(child, { lines = { { start = 1, ["end"] = 2 } } }), { text = "one  \ntwo 🦀\nthree \n", by = "parts" })
    local both = { { start = 0, ["end"] = 1 }, { start = 2, ["end"] = 3 } }
    support.equal(answer(child, { lines = both }).text, "one\ntwo 🦀  \nthree\n")
  end)
end

function T.another_version_and_a_document_that_nothing_formats_have_no_text()
  with_file(function(child)
    support.equal(answer(child), {})
    start_formatter(child, "trimmer", "document")
    support.equal(answer(child, { version = child:lua("return vim.lsp.util.buf_versions[_G.bufnr]") - 1 }), {})
    support.equal(answer(child, { uri = "file:///not/open" }), {})
  end)
end

function T.what_the_user_types_while_it_is_formatted_makes_the_answer_void()
  with_file(function(child)
    start_formatter(child, "slow", "document", "late")
    support.equal(formatted(child), "waits")
    -- The editor takes keys meanwhile.
    child:type("ggAmine<Esc>")
    support.equal(child:wait("_G.answer"), {})
    support.equal(child:lua("return vim.fn.getline(1)"), "one  mine")
  end)
end

function T.a_language_server_that_never_answers_is_passed_over_for_the_next()
  with_file(function(child)
    start_formatter(child, "never", "document", "late")
    start_formatter(child, "trimmer", "document")
    child:lua("require('azimuth.format').PATIENCE = 50")
    support.equal(answer(child), { text = "one\ntwo 🦀\nthree\n", by = "trimmer" })
  end)
end

function T.what_is_accepted_is_formatted_then_where_the_user_wants_that()
  for _, wanted in ipairs({ "file", "lines" }) do
    with_file(function(child, _, model)
      model.answers = {
        { calls = { { name = "read_file", input = { path = "a.txt" } } } },
        { calls = { { name = "edit_replace_exact", input = { path = "a.txt", old_text = "two 🦀  \n", new_text = "2 🦀   \nmore  \n" } } } },
        { text = "Changed." },
        { text = "Seen." },
      }
      start_formatter(child, "trimmer", "document", "range")
      child:prompt("Change it.")
      child:wait_for("Changed.")
      child:command("stopinsert | Azimuth accept all")
      local edges = wanted == "file" and { "one", "three" } or { "one  ", "three " }
      local formatted_lines = { edges[1], "2 🦀", "more", edges[2] }
      child:wait(("vim.deep_equal(vim.api.nvim_buf_get_lines(_G.bufnr, 0, -1, true), %s)"):format(vim.inspect(formatted_lines)))
      child:wait_for(wanted == "file" and "Formatted by trimmer: a.txt  +4 -4" or "Formatted by trimmer: a.txt  +2 -2")
      -- The formatting and the accepted edit are steps of their own.
      child:lua("vim.api.nvim_buf_call(_G.bufnr, function() vim.cmd.undo() end)")
      support.equal(child:lua("return vim.api.nvim_buf_get_lines(_G.bufnr, 0, -1, true)"), { "one  ", "2 🦀   ", "more  ", "three " })
      child:lua("vim.api.nvim_buf_call(_G.bufnr, function() vim.cmd.redo() end)")
      child:prompt("Go on.")
      child:wait_for("Seen.")
      support.contains(vim.json.encode(model.asked[#model.asked].messages), "trimmer")
    end, ('format_edits = "%s"'):format(wanted))
  end
end

function T.a_document_without_a_last_lines_end_keeps_to_it()
  with_file(function(child)
    child:lua("vim.bo[_G.bufnr].fixendofline, vim.bo[_G.bufnr].endofline = false, false")
    start_formatter(child, "trimmer", "document")
    support.equal(answer(child).text, "one\ntwo 🦀\nthree")
  end)
end

return T
