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
---@param content? string
local function with_file(test, settings, content)
  local place = support.place({ ["a.txt"] = content or file })
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
    -- Text that is not saved is formatted, too.
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

function T.a_language_server_that_never_answers_is_given_up_for_the_next()
  with_file(function(child)
    start_formatter(child, "never", "document", "late")
    start_formatter(child, "trimmer", "document")
    -- Patience is short for the first one alone.
    child:lua([[
      local format = require("azimuth.format")
      local patience = format.PATIENCE
      format.PATIENCE = 0
      vim.api.nvim_create_autocmd("LspRequest", {
        callback = function(args)
          if args.data.request.type == "cancel" then
            _G.cancelled = vim.lsp.get_client_by_id(args.data.client_id).name
            format.PATIENCE = patience
          end
        end,
      })
    ]])
    support.equal(answer(child), { text = "one\ntwo 🦀\nthree\n", by = "trimmer" })
    support.equal(child:lua("return _G.cancelled"), "never")
  end)
end

---@param child Child
---@return string
local function log(child)
  return support.read(child:lua("return vim.lsp.log.get_filename()"))
end

function T.a_language_server_that_fails_is_logged_and_passed_over_for_the_next()
  with_file(function(child)
    start_formatter(child, "broken", "document", "failing")
    start_formatter(child, "trimmer", "document")
    support.equal(answer(child).by, "trimmer")
    support.contains(log(child), "the configuration is broken")
    support.contains(log(child), '"broken"')
  end)
end

function T.a_language_server_is_asked_in_its_own_units_and_for_the_files_own_indentation()
  for _, units in ipairs({ { "utf-8", 10 }, { "utf-16", 8 } }) do
    with_file(function(child)
      start_formatter(child, "telling", "document", "range", "telling", units[1])
      child:lua("vim.bo[_G.bufnr].shiftwidth, vim.bo[_G.bufnr].expandtab = 3, true")
      local asked = vim.json.decode(vim.split(answer(child, { lines = { { start = 1, ["end"] = 2 } } }).text, "\n")[1])
      support.equal(asked.range, { start = { line = 1, character = 0 }, ["end"] = { line = 1, character = units[2] } })
      support.equal(asked.options, { tabSize = 3, insertSpaces = true })
      child:lua("vim.bo[_G.bufnr].shiftwidth, vim.bo[_G.bufnr].tabstop, vim.bo[_G.bufnr].expandtab = 0, 5, false")
      asked = vim.json.decode(vim.split(answer(child).text, "\n")[1])
      support.equal({ asked.range, asked.options }, { nil, { tabSize = 5, insertSpaces = false } })
    end)
  end
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

function T.a_document_without_a_last_lines_end_is_formatted_as_the_text_that_it_is()
  for _, fixes in ipairs({ true, false }) do
    with_file(function(child)
      child:lua("vim.bo[_G.bufnr].fixendofline = ...", fixes)
      start_formatter(child, "trimmer", "document")
      support.equal(answer(child).text, "one\ntwo")
      -- Where nothing is to be done, the text is the one that the server has.
      child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, -1, true, { 'one', 'two' })")
      support.equal(answer(child).text, "one\ntwo")
    end, nil, "one  \ntwo  ")
  end
end

function T.a_document_with_crlf_is_formatted_and_keeps_it()
  with_file(function(child, place, model)
    model.answers = {
      { calls = { { name = "read_file", input = { path = "a.txt" } } } },
      { calls = { { name = "edit_replace_exact", input = { path = "a.txt", old_text = "two", new_text = "2" } } } },
      { text = "Changed." },
    }
    start_formatter(child, "trimmer", "document")
    support.equal(answer(child).text, "one\ntwo\n")
    child:prompt("Change it.")
    child:wait_for("Changed.")
    child:command("stopinsert | Azimuth accept all")
    child:wait_for("Formatted by trimmer: a.txt  +2 -2")
    child:wait("vim.deep_equal(vim.api.nvim_buf_get_lines(_G.bufnr, 0, -1, true), { 'one', '2' })")
    child:lua("vim.api.nvim_buf_call(_G.bufnr, function() vim.cmd('silent write') end)")
    support.equal(support.read(place.project .. "/a.txt"), "one\r\n2\r\n")
  end, 'format_edits = "file"', "one  \r\ntwo  \r\n")
end

return T
