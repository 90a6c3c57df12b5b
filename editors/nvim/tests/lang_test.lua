--- Questions about code, `azimuth/editor/query`: answered by the language servers that the editor runs. The servers here are
--- played in the editor itself, so that they can be slow, wrong, dead or many; lang_real_test.lua has a real one.

local models = require("model")
local support = require("support")

local T = {}

--- Asks as the server does.
---@param child Child
---@param query table
---@param within? integer Milliseconds.
local function ask(child, query, within)
  child:lua(
    [[
      local query, within = ...
      local own = require("azimuth.client").lsp_client()
      local method = require("azimuth.generated.protocol").client_requests.editor_query
      _G.answer = nil
      coroutine.wrap(function()
        local params = { query = query, timeoutMs = within }
        local answer = own.handlers[method](nil, params, { client_id = own.id, method = method })
        -- What is not JSON would be no answer.
        _G.answer = vim.json.decode(vim.json.encode(answer))
      end)()
    ]],
    query,
    within or 5000
  )
end

---@param child Child
---@param query table
---@param within? integer
---@return azimuth.LangResult
local function answer(child, query, within)
  ask(child, query, within)
  return child:wait("_G.answer")
end

---@param place Place
---@param file string
---@return string
local function uri(place, file)
  return vim.uri_from_fname(place.project .. "/" .. file)
end

---@param line integer
---@param first integer
---@param last integer
local function range(line, first, last)
  return { start = { line = line, character = first }, ["end"] = { line = line, character = last } }
end

--- With a file that is open, one that is not, and the server connected.
---@param files table<string, string>
---@param test fun(child: Child, place: Place)
---@param before? string Lua for the child, before our server starts.
local function with_files(files, test, before)
  local place = support.place(files)
  support.use_model(place, models.start({}))
  local child = support.start(place)
  local ok, problem = xpcall(function()
    child:command("edit open.txt")
    child:lua(before or "")
    child:lua("_G.bufnr, _G.fake = vim.api.nvim_get_current_buf(), dofile(...)", support.plugin .. "/tests/lang_server.lua")
    child:open_chat()
    child:close_chat()
    test(child, place)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

--- Starts a server in the child. `more` is Lua: fields of a FakeServer.
---@param child Child
---@param name string
---@param more string
local function serve(child, name, more)
  child:lua(("_G.fake.start(vim.tbl_extend('force', { name = %q }, { %s }), _G.bufnr)"):format(name, more))
  child:wait(("#vim.lsp.get_clients({ bufnr = _G.bufnr, name = %q }) == 1"):format(name))
end

local files = { ["open.txt"] = "plain\n🦀🦀 crab ä\n", ["closed.txt"] = "one\n🦀 ä two\n" }

function T.a_definition_is_asked_and_told_in_the_units_of_each_server()
  with_files(files, function(child, place)
    for _, encoding in ipairs({ "utf-8", "utf-16", "utf-32" }) do
      -- The crab word begins after two crabs and a blank, and `two` after a crab, a blank, ä and a blank.
      local asked = ({ ["utf-8"] = 9, ["utf-16"] = 5, ["utf-32"] = 3 })[encoding]
      local told = ({ ["utf-8"] = 8, ["utf-16"] = 5, ["utf-32"] = 4 })[encoding]
      serve(child, encoding, ([[
        encoding = %q, capabilities = { definitionProvider = true },
        answers = { ["textDocument/definition"] = function(params)
          _G.asked = params.position.character
          return { uri = %q, range = { start = { line = 1, character = %d }, ["end"] = { line = 1, character = %d } } }
        end },
      ]]):format(encoding, uri(place, "closed.txt"), told, told + 3))
      local said = answer(child, { type = "definition", uri = uri(place, "open.txt"), position = { line = 1, character = 5 } })
      support.equal(child:lua("return _G.asked"), asked, encoding)
      support.equal(said.status, "ready")
      support.equal(said.answer, { type = "locations", locations = { { uri = uri(place, "closed.txt"), range = range(1, 5, 8) } } })
      -- Newer Neovims know what the server calls itself, and its version.
      support.equal(said.servers[1].name, encoding)
      support.equal(said.version, child:lua("return vim.lsp.util.buf_versions[_G.bufnr]"))
      child:lua("vim.lsp.get_clients({ name = ... })[1].stop()", encoding)
      child:wait(("#vim.lsp.get_clients({ name = %q }) == 0"):format(encoding))
    end
  end)
end

function T.what_is_not_saved_counts()
  with_files(files, function(child, place)
    serve(child, "echo", [[
      capabilities = { hoverProvider = true },
      answers = { ["textDocument/hover"] = function()
        local text
        for _, told in ipairs(_G.fake.told.echo) do
          text = told[1] == "textDocument/didChange" and told[2].contentChanges[1].text or text
        end
        return { contents = { kind = "markdown", value = text or "as it was" } }
      end },
    ]])
    local query = { type = "hover", uri = uri(place, "open.txt"), position = { line = 0, character = 0 } }
    support.equal(answer(child, query).answer, { type = "text", text = "as it was" })
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    local said = answer(child, query)
    support.contains(said.answer.text, "typed")
    support.equal(said.version, child:lua("return vim.api.nvim_buf_get_changedtick(_G.bufnr)"))
  end)
end

function T.an_answer_is_of_the_text_that_our_server_was_told()
  -- As for whoever has our server's changes held back, as Neovim does those of others.
  local held_back = "require('azimuth.client').start({ flags = { debounce_text_changes = 500 } })"
  with_files(files, function(child, place)
    local open = uri(place, "open.txt")
    serve(child, "s", ([[
      capabilities = { renameProvider = true },
      answers = { ["textDocument/rename"] = function(params)
        local text
        for _, told in ipairs(_G.fake.told.s) do
          text = told[1] == "textDocument/didChange" and told[2].contentChanges[1].text or text
        end
        local last = select(2, text:gsub("\n", "\n")) - 1
        local at = { start = { line = last, character = 0 }, ["end"] = { line = last, character = 1 } }
        return { changes = { [%q] = { { range = at, newText = params.newName } } } }
      end },
    ]]):format(open))
    child:lua([[
      _G.sent = {}
      local own = require("azimuth.client").lsp_client().id
      vim.api.nvim_create_autocmd("LspNotify", { callback = function(args)
        if args.data.client_id == own and args.data.method == "textDocument/didChange" then
          table.insert(_G.sent, args.data.params.textDocument.version)
        end
      end })
      vim.api.nvim_buf_set_lines(_G.bufnr, 0, 0, false, { "typed" })
    ]])
    child:wait("#_G.sent == 1")
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 0, false, { 't' }); vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, false, { 'two', 'lines' })")
    support.equal(child:lua("return #_G.sent"), 1)
    local said = answer(child, { type = "rename", uri = open, position = { line = 0, character = 0 }, newName = "x" })
    local tick = child:lua("return vim.api.nvim_buf_get_changedtick(_G.bufnr)")
    local change = said.answer.changes[1]
    support.equal({ said.version, change.version, change.edits[1].range.start.line }, { tick, tick, 4 })
    support.equal(child:lua("return _G.sent[#_G.sent]"), tick)
  end, held_back)
end

function T.several_servers_answer_as_one_without_doubles_and_one_that_fails_makes_it_partial()
  with_files(files, function(child, place)
    local target = uri(place, "closed.txt")
    local function with(ranges)
      return ([[
        capabilities = { referencesProvider = true },
        answers = { ["textDocument/references"] = function(params)
          assert(params.context.includeDeclaration)
          return vim.tbl_map(function(column)
            local place = { line = 0, character = column }
            return { uri = %q, range = { start = place, ["end"] = place } }
          end, %s)
        end },
      ]]):format(target, ranges)
    end
    local query = { type = "references", uri = uri(place, "open.txt"), position = { line = 0, character = 0 } }
    support.equal(answer(child, query).status, "noServer")
    serve(child, "mute", "capabilities = { hoverProvider = true }")
    local said = answer(child, query)
    support.equal({ said.status, said.servers[1].name, said.answer.type }, { "unsupported", "mute", "nothing" })
    serve(child, "first", with("{ 1, 2 }"))
    serve(child, "second", with("{ 2, 3 }"))
    said = answer(child, query)
    support.equal(said.status, "ready")
    support.equal(vim.tbl_map(function(server) return server.name end, said.servers), { "first", "second" })
    support.equal(vim.tbl_map(function(at) return at.range.start.character end, said.answer.locations), { 1, 2, 3 })
    -- There are none, and that is said as such.
    serve(child, "broken", [[
      capabilities = { referencesProvider = true },
      answers = { ["textDocument/references"] = function(_, answer) answer({ code = -32803, message = "no memory" }) end },
    ]])
    said = answer(child, query)
    support.equal({ said.status, said.message, #said.answer.locations }, { "partial", "broken: no memory", 3 })
    serve(child, "liar", with("{ -1 }"))
    support.contains(answer(child, query).message, "liar: its answer cannot be understood: a place is no number")
    serve(child, "flood", with("vim.fn.range(10, 700)"))
    support.equal(#answer(child, query).answer.locations, 500)
  end)
end

function T.an_answer_that_is_not_what_lsp_says_is_the_servers_failure()
  with_files(files, function(child, place)
    local open = uri(place, "open.txt")
    serve(child, "s", [[
      capabilities = {
        definitionProvider = true, referencesProvider = true, hoverProvider = true, documentSymbolProvider = true,
        workspaceSymbolProvider = true, callHierarchyProvider = true, typeHierarchyProvider = true, renameProvider = true,
        codeActionProvider = true, documentFormattingProvider = true, diagnosticProvider = { interFileDependencies = false },
        workspace = { fileOperations = { willRename = { filters = { { pattern = { glob = "**" } } } } } },
      },
      answers = setmetatable({}, { __index = function(_, method)
        return not method:find("/did") and method ~= "exit" and not method:find("^%$") and function() return _G.nonsense end or nil
      end }),
    ]])
    local place_in = { uri = open, position = { line = 0, character = 0 } }
    local function with(more)
      return vim.tbl_extend("force", vim.deepcopy(place_in), more)
    end
    local queries = {
      with({ type = "definition" }), with({ type = "references" }), with({ type = "hover" }), with({ type = "incomingCalls" }),
      with({ type = "subtypes" }), with({ type = "rename", newName = "x" }), { type = "documentSymbols", uri = open },
      { type = "workspaceSymbols", query = "x" }, { type = "format", uri = open }, { type = "diagnostics", uri = open },
      { type = "codeActions", uri = open, range = range(0, 0, 1) }, { type = "codeAction", uri = open, range = range(0, 0, 1), title = "x" },
      { type = "moveFile", from = open, to = uri(place, "new.txt") },
    }
    for _, nonsense in ipairs({ "'text'", "7", "true", "{ 1, 'two' }", "{ { uri = 5, name = {}, location = 'here' } }", "{ contents = 5, items = 'none', changes = 3, documentChanges = 'all' }" }) do
      child:lua("_G.nonsense = " .. nonsense)
      for _, query in ipairs(queries) do
        local said = answer(child, query)
        local what = query.type .. " answered by " .. nonsense .. ": " .. vim.inspect(said)
        assert(not (said.message or ""):find("The plugin failed", 1, true), what)
        assert(vim.list_contains({ "ready", "failed", "unsupported" }, said.status), what)
      end
    end
    support.equal(child:lua("return vim.bo[_G.bufnr].modified"), false)
  end)
end

function T.none_found_is_ready_and_nothing_else_is()
  with_files(files, function(child, place)
    serve(child, "s", [[
      capabilities = { definitionProvider = true },
      answers = {
        ["textDocument/definition"] = function(_, answer, server)
          local says = _G.says
          if says == "none" then answer(nil, vim.NIL)
          elseif says == "fail" then answer({ code = 1, message = "cannot" })
          elseif says == "crash" then server.crash()
          elseif says == "begin" then
            server.notify("$/progress", { token = "t", value = { kind = "begin", title = "Indexing" } })
            answer(nil, {})
          elseif says == "end" then
            server.notify("$/progress", { token = "t", value = { kind = "end" } })
            answer(nil, {})
          end
        end,
      },
    ]])
    local query = { type = "definition", uri = uri(place, "open.txt"), position = { line = 0, character = 0 } }
    local function said(how, within)
      child:lua("_G.says = ...", how)
      local result = answer(child, query, within)
      return { result.status, result.answer.type, result.message }
    end
    support.equal(said("none"), { "ready", "locations" })
    support.equal(said("begin"), { "indexing", "locations", "s is still busy: Indexing" })
    support.equal(said("end"), { "ready", "locations" })
    support.equal(said("fail"), { "failed", "nothing", "s: cannot" })
    local began = vim.uv.hrtime()
    support.equal(said("never", 300), { "timedOut", "nothing", "s: it did not answer in time" })
    local took = (vim.uv.hrtime() - began) / 1e6
    assert(took >= 300 and took < 1000, took)
    -- A request that nobody waits for any more is not worked on.
    support.equal(child:lua("return vim.iter(_G.fake.told.s):any(function(told) return told[1] == '$/cancelRequest' end)"), true)
    support.equal(said("crash"), { "crashed", "nothing", "s: it ended while it was asked" })
    support.equal(said("none"), { "noServer", "nothing" })
  end)
end

function T.a_request_that_a_change_overtook_is_sent_again()
  with_files(files, function(child, place)
    serve(child, "s", [[
      capabilities = { hoverProvider = true },
      answers = { ["textDocument/hover"] = function(_, answer)
        _G.times = (_G.times or 0) + 1
        if _G.times < 3 then answer({ code = -32801, message = "content modified" }) else return { contents = "at last" } end
      end },
    ]])
    local said = answer(child, { type = "hover", uri = uri(place, "open.txt"), position = { line = 0, character = 0 } })
    support.equal({ said.status, said.answer.text }, { "ready", "at last" })
  end)
end

function T.a_file_that_was_read_for_a_question_stays_in_the_quickfix_list()
  with_files(files, function(child, place)
    child:lua([[
      vim.api.nvim_create_autocmd("FileType", { pattern = "text", callback = function(args)
        _G.fake.start({
          name = "text", capabilities = { documentSymbolProvider = true },
          answers = { ["textDocument/documentSymbol"] = function()
            -- As a search of the user's while the question is under way.
            vim.fn.setqflist({ { filename = "closed.txt", lnum = 2, text = "found" } })
            return {}
          end },
        }, args.buf)
      end })
    ]])
    answer(child, { type = "documentSymbols", uri = uri(place, "closed.txt") })
    child:lua("vim.cmd.cfirst()")
    support.equal(child:lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }"), { "closed.txt", 2 })
  end)
end

function T.a_file_that_is_not_open_is_read_for_the_question_and_let_go()
  with_files(files, function(child, place)
    child:lua([[
      vim.api.nvim_create_autocmd("FileType", { pattern = "text", callback = function(args)
        _G.fake.start({
          name = "text", capabilities = { documentSymbolProvider = true },
          answers = { ["textDocument/documentSymbol"] = function(params, answer)
            if _G.late then vim.defer_fn(function() answer(nil, {}) end, 300) return end
            local function at(line, last) return { start = { line = line, character = 0 }, ["end"] = { line = last, character = 1 } } end
            return { { name = "outer", kind = 5, range = at(0, 1), selectionRange = at(0, 0), children = {
              { name = "inner", kind = 6, detail = "()", range = at(1, 1), selectionRange = at(1, 1) } } } }
          end },
        }, args.buf)
      end })
    ]])
    local closed = uri(place, "closed.txt")
    local said = answer(child, { type = "documentSymbols", uri = closed })
    support.equal({ said.status, said.version }, { "ready" })
    support.equal(said.answer.symbols, {
      { name = "outer", kind = 5, depth = 0, location = { uri = closed, range = { start = { line = 0, character = 0 }, ["end"] = { line = 1, character = 1 } } }, selection = range(0, 0, 1) },
      { name = "inner", kind = 6, detail = "()", container = "outer", depth = 1, location = { uri = closed, range = range(1, 0, 1) }, selection = range(1, 0, 1) },
    })
    support.equal(child:lua("return { vim.fn.bufexists('closed.txt'), #vim.api.nvim_list_wins() }"), { 0, 1 })
    local told = child:lua("return vim.tbl_map(function(told) return told[1] end, _G.fake.told.text)")
    support.equal(vim.tbl_filter(function(method) return method:find("textDocument/did") end, told), { "textDocument/didOpen", "textDocument/didClose" })
    -- A file that nobody has opened sets no option by a modeline.
    support.write(place.project .. "/closed.txt", "one\n# vim: set shiftwidth=7 :\n")
    child:lua("vim.o.modeline = true; vim.api.nvim_create_autocmd('LspAttach', { callback = function(args) _G.width = vim.bo[args.buf].shiftwidth end })")
    answer(child, { type = "documentSymbols", uri = closed })
    support.equal(child:lua("return { _G.width, vim.go.modeline }"), { 8, true })
    -- Our server was never told of it: for it the file is on the disk.
    support.equal(child:lua("return vim.tbl_count(require('azimuth.client').lsp_client().attached_buffers)"), 1)
    child:command("filetype on")
    -- One that the user opens meanwhile stays, and is the user's, with all that opening a file does.
    child:lua([[
      _G.late = true
      vim.api.nvim_create_autocmd("FileType", { pattern = "text", command = "setlocal spell shiftwidth=5 tabstop=5" })
    ]])
    support.write(place.project .. "/.editorconfig", "root = true\n[*]\ntab_width = 6\n")
    ask(child, { type = "documentSymbols", uri = closed })
    child:wait("vim.fn.bufloaded('closed.txt') == 1")
    child:lua("vim.api.nvim_create_autocmd('BufReadPost', { callback = function() _G.read_again = true end })")
    child:command("edit closed.txt")
    child:wait("_G.answer")
    support.equal(child:lua("return vim.fn.bufloaded('closed.txt')"), 1)
    support.equal(child:lua("return vim.tbl_count(require('azimuth.client').lsp_client().attached_buffers)"), 2)
    support.equal(child:lua("return { vim.wo.spell, vim.bo.shiftwidth, vim.bo.tabstop, _G.read_again == nil }"), { true, 7, 6, true })
  end)
end

function T.a_file_that_is_open_under_another_name_stays_open_with_its_window()
  with_files(vim.tbl_extend("error", files, { ["soft.txt"] = "soft\n", ["hard.txt"] = "hard\n" }), function(child, place)
    for _, kind in ipairs({ "soft", "hard" }) do
      local file, link = place.project .. "/" .. kind .. ".txt", place.project .. "/" .. kind .. "-link.txt"
      assert((kind == "soft" and vim.uv.fs_symlink or vim.uv.fs_link)(file, link))
      for _, names in ipairs({ { link, file }, { file, link } }) do
        child:command("split " .. names[1])
        child:lua("_G.bufnr = vim.api.nvim_get_current_buf(); vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'typed' }); vim.cmd('silent write')")
        serve(child, "s", [[
          capabilities = { hoverProvider = true },
          answers = { ["textDocument/hover"] = function() return { contents = "there" } end },
        ]])
        child:command("wincmd p")
        local said = answer(child, { type = "hover", uri = vim.uri_from_fname(names[2]), position = { line = 0, character = 0 } })
        support.equal(said.answer, { type = "text", text = "there" })
        support.equal(
          child:lua("return { vim.api.nvim_buf_is_loaded(_G.bufnr), #vim.fn.win_findbuf(_G.bufnr), #vim.fn.undotree(_G.bufnr).entries }"),
          { true, 1, 1 },
          kind
        )
        assert(said.version, "it is open, so our server was told of it")
        child:command("bwipeout! " .. names[1])
      end
    end
  end)
end

function T.a_file_that_is_changed_while_it_is_held_is_read_again()
  with_files(files, function(child, place)
    local closed = uri(place, "closed.txt")
    child:lua(
      [[
        local uri = ...
        vim.api.nvim_create_autocmd("FileType", { pattern = "text", callback = function(args)
          _G.fake.start({
            name = "text", capabilities = { renameProvider = true, hoverProvider = true },
            answers = {
              ["textDocument/rename"] = function(_, answer) _G.answer_rename = answer end,
              ["textDocument/hover"] = function()
                local text
                for _, told in ipairs(_G.fake.told.text) do
                  if told[1] == "textDocument/didOpen" then
                    text = told[2].textDocument.text
                  elseif told[1] == "textDocument/didChange" then
                    text = told[2].contentChanges[1].text
                  end
                end
                return { contents = vim.inspect(text) }
              end,
            },
          }, args.buf)
        end })
        -- A slow question holds it.
        local lang, own = require("azimuth.lang"), require("azimuth.client").lsp_client().id
        coroutine.wrap(function()
          local query = { type = "rename", uri = uri, position = { line = 0, character = 0 }, newName = "x" }
          _G.renamed = lang.answer({ query = query, timeoutMs = 5000 }, own)
        end)()
      ]],
      closed
    )
    child:wait("_G.answer_rename ~= nil")
    support.write(place.project .. "/closed.txt", "new first line\none\n")
    local said = answer(child, { type = "hover", uri = closed, position = { line = 0, character = 0 } })
    support.equal({ said.status, said.answer.text }, { "ready", vim.inspect("new first line\none\n") })
    -- The changes are of the text that the first question was about, and say so by its hash.
    child:lua(
      [[
        local uri = ...
        local at = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 3 } }
        _G.answer_rename(nil, { changes = { [uri] = { { range = at, newText = "x" } } } })
      ]],
      closed
    )
    local renamed = child:wait("_G.renamed")
    support.equal(renamed.answer.changes[1].hash, vim.fn.sha256(files["closed.txt"]))
    support.equal(child:lua("return { vim.fn.bufexists('closed.txt'), vim.o.autoread }"), { 0, child:lua("return vim.o.autoread") })
  end)
end

function T.a_file_that_was_asked_about_has_a_swap_file_when_the_user_opens_it()
  with_files(files, function(child, place)
    child:lua("vim.o.swapfile = true")
    local closed = uri(place, "closed.txt")
    local function swap_file()
      return child:lua("return vim.fn.fnamemodify(vim.fn.swapname('closed.txt'), ':e')")
    end
    -- The buffer was there before, as for a list of places.
    child:lua("vim.uri_to_bufnr(...)", closed)
    answer(child, { type = "servers", uri = closed })
    support.equal(child:lua("return { vim.fn.bufexists('closed.txt'), vim.fn.bufloaded('closed.txt') }"), { 1, 0 })
    child:command("edit closed.txt")
    support.equal(swap_file(), "swp")
    child:command("bwipeout")
    -- It is opened while it is held, and another editor has it, too.
    local take = "require('azimuth.lang.documents').take(...)"
    child:lua(take, closed)
    support.equal(swap_file(), "")
    child:command("edit closed.txt")
    support.equal({ swap_file(), child:lua("return #_G.said") }, { "swp", 0 })
    local other = support.start(place)
    local ok, problem = xpcall(function()
      other:lua("vim.o.swapfile, vim.o.directory = true, ...", child:lua("return vim.o.directory"))
      other:lua(take, closed)
      other:command("edit closed.txt")
      support.contains(other:lua("return _G.said[1][1]"), "there is a swap file of it, so another editor may have it open.")
      support.equal(other:lua("return vim.fn.fnamemodify(vim.fn.swapname('closed.txt'), ':e')"), "swo")
    end, debug.traceback)
    other:stop()
    assert(ok, problem)
  end)
end

function T.a_file_that_no_server_wants_or_that_cannot_be_read_is_said_to_be_so()
  with_files(vim.tbl_extend("error", files, { ["a.lua"] = "return 1\n", ["big.lua"] = ("x"):rep(5000000) }), function(child, place)
    local began = vim.uv.hrtime()
    support.equal(answer(child, { type = "servers", uri = uri(place, "a.lua") }).status, "noServer")
    support.equal(child:lua("return vim.fn.bufexists('a.lua')"), 0)
    -- The next one is not waited for so long.
    support.equal(answer(child, { type = "servers", uri = uri(place, "a.lua") }).status, "noServer")
    assert((vim.uv.hrtime() - began) / 1e6 < 3000)
    support.equal(answer(child, { type = "servers", uri = uri(place, "big.lua") }).status, "unsupported")
    support.equal(answer(child, { type = "servers", uri = uri(place, "none.lua") }).status, "failed")
    support.equal(answer(child, { type = "servers", uri = "untitled:x" }).status, "noServer")
    support.equal(answer(child, { type = "servers" }).status, "noServer")
  end)
end

function T.a_server_that_is_still_starting_is_waited_for()
  with_files(files, function(child, place)
    child:lua([[
      _G.fake.start({ name = "slow", capabilities = { hoverProvider = true },
        initialize = function(go_on) _G.go_on = go_on end,
        answers = { ["textDocument/hover"] = function() return { contents = "there" } end } }, _G.bufnr)
    ]])
    local query = { type = "hover", uri = uri(place, "open.txt"), position = { line = 0, character = 0 } }
    local said = answer(child, query, 300)
    support.equal({ said.status, said.message }, { "timedOut", "The language server is still starting." })
    ask(child, query)
    child:lua("vim.defer_fn(_G.go_on, 200)")
    support.equal(child:wait("_G.answer").answer, { type = "text", text = "there" })
  end)
end

function T.the_user_is_not_disturbed_while_they_type_a_command()
  with_files(files, function(child, place)
    serve(child, "s", [[
      capabilities = { hoverProvider = true },
      answers = { ["textDocument/hover"] = function() return { contents = "there" } end },
    ]])
    child:lua([[
      vim.api.nvim_create_autocmd("FileType", { pattern = "text", callback = function(args)
        vim.lsp.buf_attach_client(args.buf, vim.lsp.get_clients({ name = "s" })[1].id)
      end })
    ]])
    child:type(":echo 'half a com")
    child:wait("vim.fn.getcmdline() == \"echo 'half a com\"")
    local query = { type = "hover", uri = uri(place, "closed.txt"), position = { line = 0, character = 0 } }
    support.equal(answer(child, query).answer, { type = "text", text = "there" })
    support.equal(child:lua("return { vim.fn.getcmdline(), vim.fn.mode(), vim.fn.bufloaded('closed.txt') }"), { "echo 'half a com", "c", 0 })
    child:type("<Esc>")
    child:wait("vim.fn.mode() == 'n'")
    child:type("q:")
    child:wait("vim.fn.getcmdwintype() == ':'")
    support.equal(answer(child, query).answer, { type = "text", text = "there" })
    support.equal(child:lua("return vim.fn.getcmdwintype()"), ":")
    -- No buffer can be unloaded while that window is open.
    child:type("<C-c><C-c>")
    child:wait("vim.fn.getcmdwintype() == '' and vim.fn.bufloaded('closed.txt') == 0")
  end)
end

function T.calls_and_types_are_asked_in_two_steps()
  with_files(files, function(child, place)
    serve(child, "s", ([[
      capabilities = { callHierarchyProvider = true, typeHierarchyProvider = true },
      answers = (function()
        local function at(line) return { start = { line = line, character = 0 }, ["end"] = { line = line, character = 3 } } end
        local function item(name, uri, line) return { name = name, kind = 12, uri = uri, range = at(line), selectionRange = at(line), data = name } end
        local here, there = %q, %q
        local answers = {}
        for _, method in ipairs({ "textDocument/prepareCallHierarchy", "textDocument/prepareTypeHierarchy" }) do
          answers[method] = function() return { item("me", here, 0) } end
        end
        answers["callHierarchy/incomingCalls"] = function(params)
          assert(params.item.data == "me")
          return { { from = item("caller", there, 1), fromRanges = { at(1) } } }
        end
        answers["callHierarchy/outgoingCalls"] = function() return { { to = item("called", there, 0), fromRanges = { at(0), at(1) } } } end
        answers["typeHierarchy/supertypes"] = function() return { item("above", there, 0) } end
        answers["typeHierarchy/subtypes"] = function() return { item("below", there, 1) } end
        return answers
      end)(),
    ]]):format(uri(place, "open.txt"), uri(place, "closed.txt")))
    local function said(type)
      return answer(child, { type = type, uri = uri(place, "open.txt"), position = { line = 0, character = 0 } }).answer
    end
    local function symbol(name, line)
      return { name = name, kind = 12, depth = 0, location = { uri = uri(place, "closed.txt"), range = range(line, 0, 3) }, selection = range(line, 0, 3) }
    end
    support.equal(said("incomingCalls"), { type = "calls", calls = { { symbol = symbol("caller", 1), ranges = { range(1, 0, 3) } } } })
    support.equal(said("outgoingCalls"), { type = "calls", calls = { { symbol = symbol("called", 0), ranges = { range(0, 0, 3), range(1, 0, 3) } } } })
    support.equal(said("supertypes"), { type = "symbols", symbols = { symbol("above", 0) } })
    support.equal(said("subtypes"), { type = "symbols", symbols = { symbol("below", 1) } })
  end)
end

function T.a_rename_tells_what_would_change_and_changes_nothing()
  with_files(files, function(child, place)
    local open, closed = uri(place, "open.txt"), uri(place, "closed.txt")
    serve(child, "none", [[
      capabilities = { renameProvider = true },
      answers = { ["textDocument/rename"] = function(_, answer) answer(nil, vim.NIL) end },
    ]])
    serve(child, "s", ([[
      encoding = "utf-8", capabilities = { renameProvider = true },
      answers = { ["textDocument/rename"] = function(params)
        local function at(line, first, last) return { start = { line = line, character = first }, ["end"] = { line = line, character = last } } end
        local edits = { { range = at(1, 9, 13), newText = params.newName } }
        if params.newName == "twice" then table.insert(edits, { range = at(1, 12, 14), newText = "x" }) end
        return { documentChanges = {
          { textDocument = { uri = %q, version = vim.NIL }, edits = edits },
          { textDocument = { uri = %q }, edits = { { range = at(1, 8, 11), newText = params.newName } } },
          { kind = "rename", oldUri = %q, newUri = %q },
        } }
      end },
    ]]):format(open, closed, closed, uri(place, "crab.txt")))
    local query = { type = "rename", uri = open, position = { line = 1, character = 5 }, newName = "crayfish" }
    local said = answer(child, query)
    support.equal({ said.status, said.servers[1].name }, { "ready", "s" })
    support.equal(said.answer.changes, {
      { type = "text", uri = open, version = said.version, edits = { { range = range(1, 5, 9), newText = "crayfish" } } },
      { type = "text", uri = closed, hash = vim.fn.sha256(files["closed.txt"]), edits = { { range = range(1, 5, 8), newText = "crayfish" } } },
      { type = "rename", from = closed, to = uri(place, "crab.txt") },
    })
    support.equal(child:lua("return { vim.bo[_G.bufnr].modified, vim.fn.bufexists('closed.txt') }"), { false, 0 })
    query.newName = "twice"
    said = answer(child, query)
    support.equal(said.answer.changes, {})
    support.contains(said.message, "its edits overlap")
  end)
end

function T.a_move_is_asked_of_the_servers_that_mind_it()
  with_files(files, function(child, place)
    local closed = uri(place, "closed.txt")
    local function mover(name, glob)
      serve(child, name, ([[
        capabilities = { workspace = { fileOperations = { willRename = { filters = { { scheme = "file", pattern = { glob = %q } } } } } } },
        answers = { ["workspace/willRenameFiles"] = function(params)
          local place = { line = 0, character = 0 }
          _G.moved = params.files
          return { changes = { [%q] = { { range = { start = place, ["end"] = place }, newText = "import" } } } }
        end },
      ]]):format(glob, uri(place, "open.txt")))
    end
    local query = { type = "moveFile", from = uri(place, "open.txt"), to = uri(place, "moved.txt") }
    mover("lua", "**/*.lua")
    support.equal(answer(child, query).status, "unsupported")
    mover("text", "**/*.txt")
    local said = answer(child, query)
    support.equal({ said.status, #said.answer.changes, said.answer.changes[1].edits[1].newText }, { "ready", 1, "import" })
    support.equal(child:lua("return _G.moved"), { { oldUri = query.from, newUri = query.to } })
    -- A project whose folder's name is the beginning of another's is not that project.
    child:lua("_G.fake.start({ name = 'beside', root = ..., capabilities = { workspace = { fileOperations = { willRename = { filters = { { pattern = { glob = '**' } } } } } } } }, _G.bufnr)", place.project:sub(1, -2))
    child:wait("#vim.lsp.get_clients({ name = 'beside' }) == 1")
    support.equal(answer(child, query).servers, said.servers)
    -- Both would change the same document, and none knows of the other.
    mover("other", "**/*.txt")
    said = answer(child, query)
    support.equal({ said.status, #said.answer.changes }, { "partial", 1 })
    support.contains(said.message, "it changes what text changes, too")
    support.equal(child:lua("return vim.fn.filereadable(...)", vim.uri_to_fname(closed)), 1)
  end)
end

function T.typescript_is_asked_for_the_problems_of_the_text_as_it_is_now()
  with_files(files, function(child, place)
    -- As typescript-language-server, which publishes, but never says of which version.
    serve(child, "ts", ([[
      capabilities = { executeCommandProvider = { commands = { "typescript.tsserverRequest" } } },
      answers = {
        ["textDocument/didChange"] = function(_, _, server)
          local at = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } }
          vim.defer_fn(function()
            server.notify("textDocument/publishDiagnostics", { uri = %q, diagnostics = { { range = at, message = "old" } } })
          end, 50)
        end,
        ["workspace/executeCommand"] = function(params, answer)
          local part, of = unpack(params.arguments)
          assert(of.file == %q)
          if _G.says == "nothing" then return answer({ code = 1, message = "no server" }) end
          local problem = { start = { line = 2, offset = 6 }, ["end"] = { line = 2, offset = 10 }, text = part, code = 7, category = "suggestion" }
          return { type = "response", body = part == "semanticDiagnosticsSync" and { problem } or {} }
        end,
      },
    ]]):format(uri(place, "open.txt"), uri(place, "open.txt")))
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    local query = { type = "diagnostics", uri = uri(place, "open.txt") }
    local said = answer(child, query)
    support.equal({ said.status, said.answer.documents[1].version }, { "ready", said.version })
    support.equal(said.answer.documents[1].diagnostics, {
      { range = range(1, 5, 9), severity = "hint", message = "semanticDiagnosticsSync", source = "typescript", code = "7" },
    })
    -- Where it cannot be asked, there is what was published, with its doubt.
    child:lua("_G.says = 'nothing'")
    said = answer(child, query)
    support.equal({ said.status, said.answer.documents[1].diagnostics[1].message }, { "partial", "old" })
  end)
end

function T.an_ended_server_is_not_one_that_finds_nothing_wrong()
  with_files(files, function(child, place)
    serve(child, "mortal", [[
      answers = { ["textDocument/didChange"] = function(_, _, server) server.crash() end },
    ]])
    local query = { type = "diagnostics", uri = uri(place, "open.txt") }
    ask(child, query)
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    local said = child:wait("_G.answer")
    support.equal({ said.status, said.answer.type, said.message }, { "crashed", "nothing", "mortal: it ended while it was asked" })
  end)
end

--- A server that says, after each change, what is wrong: `_G.says(version)` gives what it publishes.
local function publisher(place)
  return ([[
    answers = (function()
      local function changed(params, _, server)
        local version = params.textDocument.version
        local at = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } }
        vim.defer_fn(function()
          server.notify("textDocument/publishDiagnostics", {
            uri = %q, version = _G.says(version), diagnostics = { { range = at, message = "of " .. version } },
          })
        end, 100)
      end
      return { ["textDocument/didOpen"] = changed, ["textDocument/didChange"] = changed }
    end)(),
  ]]):format(uri(place, "open.txt"))
end

function T.a_server_that_does_not_say_of_which_text_it_speaks_is_not_simply_believed()
  with_files(files, function(child, place)
    child:lua("_G.says = function() end")
    serve(child, "vague", publisher(place))
    local query = { type = "diagnostics", uri = uri(place, "open.txt") }
    -- Of the first text there is no older one.
    support.equal(answer(child, query).status, "ready")
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    local said = answer(child, query)
    support.equal({ said.status, said.message }, { "partial", "vague: it does not say of which version of the text its problems are" })
    support.equal({ #said.answer.documents[1].diagnostics, said.answer.documents[1].version }, { 1 })
    -- One that had begun with the text before would have spoken again.
    child:lua("require('azimuth.lang.diagnostics').PATIENCE = 100")
    support.equal(answer(child, query).status, "ready")
  end)
end

function T.a_server_that_speaks_of_a_version_that_there_is_not_is_not_believed()
  with_files(files, function(child, place)
    child:lua("_G.says = function(version) return version + 1000 end")
    serve(child, "liar", publisher(place))
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    local said = answer(child, { type = "diagnostics", uri = uri(place, "open.txt") }, 700)
    support.equal({ said.status, said.answer.type }, { "timedOut", "nothing" })
  end)
end

function T.what_was_said_before_anybody_listened_may_be_old()
  with_files(files, function(child, place)
    child:lua("_G.says = function(version) return version end")
    serve(child, "early", publisher(place))
    child:wait("#vim.diagnostic.get(_G.bufnr) == 1")
    -- As where the plugin is loaded only now.
    child:lua([[
      for name in pairs(package.loaded) do
        if name:find("^azimuth%.lang") and name ~= "azimuth.lang.documents" then package.loaded[name] = nil end
      end
    ]])
    local said = answer(child, { type = "diagnostics", uri = uri(place, "open.txt") })
    support.equal({ said.status, #said.answer.documents[1].diagnostics }, { "partial", 1 })
  end)
end

function T.a_change_of_one_file_may_break_another()
  with_files(files, function(child, place)
    local open, other = uri(place, "open.txt"), uri(place, "closed.txt")
    serve(child, "whole", ([[
      answers = { ["textDocument/didChange"] = function(params, _, server)
        local at = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } }
        local function publish(after, uri, version, diagnostics)
          vim.defer_fn(function()
            server.notify("textDocument/publishDiagnostics", { uri = uri, version = version, diagnostics = diagnostics })
          end, after)
        end
        local version = params.textDocument.version
        if params.textDocument.uri == %q then
          _G.first = version
          publish(50, params.textDocument.uri, version, {})
        else
          publish(50, params.textDocument.uri, version, {})
          publish(700, %q, _G.first, { { range = at, message = "broken elsewhere" } })
        end
      end },
    ]]):format(open, open))
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    child:lua("vim.cmd.edit('closed.txt'); vim.lsp.buf_attach_client(0, vim.lsp.get_clients({ name = 'whole' })[1].id)")
    support.equal(answer(child, { type = "diagnostics", uri = open }).answer.documents[1].diagnostics, {})
    child:lua("vim.api.nvim_buf_set_lines(0, 0, 1, true, { 'typed, too' })")
    local said = answer(child, { type = "diagnostics", uri = open })
    support.equal({ said.status, said.answer.documents[1].diagnostics[1].message }, { "ready", "broken elsewhere" })
    support.equal(answer(child, { type = "diagnostics", uri = other }).status, "ready")
  end)
end

function T.what_is_known_of_all_files_is_never_all()
  with_files(files, function(child, place)
    child:lua("_G.says = function(version) return version end")
    serve(child, "s", publisher(place))
    child:wait("#vim.diagnostic.get(_G.bufnr) == 1")
    local said = answer(child, { type = "diagnostics" })
    support.equal({ said.status, #said.answer.documents }, { "partial", 1 })
    support.contains(said.message, "This is what the language servers have said until now")
    -- Nor is what was said of the text before.
    child:lua("_G.says = function() return 1 end; vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    child:wait("vim.diagnostic.get(_G.bufnr)[1].message ~= 'of 0'")
    said = answer(child, { type = "diagnostics" })
    support.equal({ said.status, said.answer.documents }, { "partial", {} })
    support.contains(said.message, "s has not spoken yet of all texts as they are now.")
  end)
end

function T.a_flood_is_cut_before_it_is_read()
  with_files(files, function(child, place)
    local open = uri(place, "open.txt")
    serve(child, "s", ([[
      encoding = "utf-8",
      capabilities = { referencesProvider = true, workspaceSymbolProvider = true, renameProvider = true, callHierarchyProvider = true },
      answers = (function()
        local uri = %q
        local function at(column)
          local place = { line = 1, character = column }
          return { start = place, ["end"] = place }
        end
        -- What comes last is nothing that could be read.
        local function flood(count, item)
          local list = {}
          for number = 1, count do list[number] = item(number) end
          list[count + 1] = { uri = 7, name = false, range = "none" }
          return list
        end
        local item = { name = "me", kind = 12, uri = uri, range = at(0), selectionRange = at(0) }
        return {
          ["textDocument/references"] = function() return flood(20000, function(n) return { uri = uri, range = at(8 + n %% 5) } end) end,
          ["workspace/symbol"] = function()
            return flood(20000, function(n) return { name = "n" .. n, kind = 13, location = { uri = uri, range = at(0) } } end)
          end,
          ["textDocument/prepareCallHierarchy"] = function() return { item } end,
          ["callHierarchy/incomingCalls"] = function()
            return flood(20000, function(n) return { from = vim.tbl_extend("force", item, { name = "n" .. n }), fromRanges = {} } end)
          end,
          ["textDocument/rename"] = function(params)
            return { changes = { [uri] = flood(30000, function() return { range = at(0), newText = params.newName } end) } }
          end,
        }
      end)(),
    ]]):format(open))
    child:lua([[
      local documents = require("azimuth.lang.documents")
      local loaded = documents.loaded
      documents.loaded = function(uri)
        _G.looked = (_G.looked or 0) + 1
        return loaded(uri)
      end
    ]])
    local said = answer(child, { type = "references", uri = open, position = { line = 1, character = 0 } })
    support.equal({ said.status, said.message, #said.answer.locations }, { "partial", "There is more than this.", 5 })
    -- The document is looked for once, and not for each place in it; before that, for the question.
    assert(child:lua("return _G.looked") <= 3, child:lua("return _G.looked"))
    said = answer(child, { type = "workspaceSymbols", query = "n" })
    support.equal({ said.status, said.message, #said.answer.symbols }, { "partial", "There is more than this.", 500 })
    said = answer(child, { type = "incomingCalls", uri = open, position = { line = 1, character = 0 } })
    support.equal({ said.status, said.message, #said.answer.calls }, { "partial", "There is more than this.", 500 })
    said = answer(child, { type = "rename", uri = open, position = { line = 1, character = 0 }, newName = "x" })
    support.contains(said.message, "it would change too much: 30002 places")
  end)
end

function T.what_is_put_in_before_a_replaced_part_does_not_overlap_it()
  with_files(files, function(child, place)
    serve(child, "s", ([[
      capabilities = { renameProvider = true },
      answers = { ["textDocument/rename"] = function()
        local function at(first, last) return { start = { line = 0, character = first }, ["end"] = { line = 0, character = last } } end
        return { changes = { [%q] = { { range = at(0, 3), newText = "x" }, { range = at(0, 0), newText = "y" } } } }
      end },
    ]]):format(uri(place, "open.txt")))
    local said = answer(child, { type = "rename", uri = uri(place, "open.txt"), position = { line = 0, character = 0 }, newName = "x" })
    support.equal({ said.status, said.message, #said.answer.changes[1].edits }, { "ready", nil, 2 })
  end)
end

function T.a_server_that_is_still_on_its_way_to_a_document_is_waited_for()
  with_files(vim.tbl_extend("error", files, { ["late.txt"] = "late\n", ["later.txt"] = "later\n" }), function(child, place)
    -- As one that runs a program first to find out where the project is.
    child:lua([[
      _G.after = 500
      vim.api.nvim_create_autocmd("FileType", { pattern = "text", callback = function(args)
        vim.defer_fn(function()
          _G.fake.start({ name = "late", capabilities = { hoverProvider = true },
            answers = { ["textDocument/hover"] = function() return { contents = "there" } end } }, args.buf)
        end, _G.after)
      end })
    ]])
    local function hover(file, within)
      return answer(child, { type = "hover", uri = uri(place, file), position = { line = 0, character = 0 } }, within)
    end
    -- The agent is followed into a file, or the user opens it, and the question comes at once.
    child:command("edit late.txt")
    support.equal(hover("late.txt").answer, { type = "text", text = "there" })
    -- It is started again, as :LspRestart does.
    child:lua([[
      local client = vim.lsp.get_clients({ name = "late" })[1]
      local bufnr = vim.fn.bufnr("late.txt")
      vim.lsp.stop_client(client.id)
      vim.defer_fn(function() vim.api.nvim_exec_autocmds("FileType", { buffer = bufnr }) end, 300)
    ]])
    child:wait("#vim.lsp.get_clients({ name = 'late' }) == 0")
    support.equal(hover("late.txt").answer, { type = "text", text = "there" })
    -- One that comes to every file, and can tell nothing of it, is not taken for the one.
    child:command("edit open.txt")
    child:lua([[
      vim.api.nvim_create_autocmd("FileType", { pattern = "text", callback = function(args)
        _G.fake.start({ name = "everywhere", capabilities = { documentFormattingProvider = true } }, args.buf)
      end })
    ]])
    child:command("edit closed.txt")
    support.equal(hover("closed.txt").answer, { type = "text", text = "there" })
    -- Where there was not the time, it is not said that there is none.
    child:lua("_G.after = 1000; vim.cmd.edit('later.txt')")
    local said = hover("later.txt", 300)
    support.equal({ said.status, said.message }, { "indexing", "A language server may still come to the document." })
  end)
end

function T.problems_are_told_for_the_text_as_it_is_now()
  with_files(files, function(child, place)
    local open = uri(place, "open.txt")
    serve(child, "s", ([[
      encoding = "utf-8",
      answers = (function()
        local function publish(version, server)
          local place = { line = 1, character = 9 }
          local said = { { range = { start = place, ["end"] = { line = 1, character = 13 } }, severity = 2, message = "of " .. version, code = 7, source = "s" } }
          vim.defer_fn(function()
            server.notify("textDocument/publishDiagnostics", { uri = %q, version = version, diagnostics = _G.clean and {} or said })
          end, 100)
        end
        local function changed(params, _, server)
          if not _G.silent then publish(params.textDocument.version, server) end
        end
        return { ["textDocument/didOpen"] = changed, ["textDocument/didChange"] = changed }
      end)(),
    ]]):format(open))
    local query = { type = "diagnostics", uri = open }
    local said = answer(child, query)
    support.equal(said.status, "ready")
    local document = said.answer.documents[1]
    support.equal(document.diagnostics, { { range = range(1, 5, 9), severity = "warning", message = "of " .. document.version, source = "s", code = "7" } })
    -- The problems of the former text are not told for the present one, and asking waits for the new ones.
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    said = answer(child, query)
    local tick = child:lua("return vim.api.nvim_buf_get_changedtick(_G.bufnr)")
    support.equal({ said.version, said.answer.documents[1].version, said.answer.documents[1].diagnostics[1].message }, { tick, tick, "of " .. tick })
    child:lua("_G.silent = true; vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed on' })")
    said = answer(child, query, 600)
    support.equal({ said.status, said.answer.type, said.message }, { "timedOut", "nothing", "s: it has not spoken of the text as it is now" })
    -- No problem at all is an answer, too.
    child:lua("_G.silent, _G.clean = false, true; vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed so' })")
    said = answer(child, query)
    support.equal({ said.status, #said.answer.documents, #said.answer.documents[1].diagnostics }, { "ready", 1, 0 })
    support.equal(answer(child, { type = "diagnostics" }).answer.documents, { { uri = open, diagnostics = {} } })
  end)
end

function T.what_a_server_says_first_of_a_text_is_not_taken_for_all()
  with_files(files, function(child, place)
    serve(child, "s", ([[
      answers = { ["textDocument/didChange"] = function(params, _, server)
        local function publish(after, diagnostics)
          vim.defer_fn(function()
            server.notify("textDocument/publishDiagnostics", { uri = %q, version = params.textDocument.version, diagnostics = diagnostics })
          end, after)
        end
        local function progress(after, kind)
          vim.defer_fn(function()
            server.notify("$/progress", { token = 1, value = { kind = kind, title = "Checking" } })
          end, after)
        end
        local place = { line = 0, character = 0 }
        -- After a first word at 1 s the client waits for half a second, so the second one may be up to 0.4 s late.
        publish(1000, {})
        if _G.tells then
          progress(1050, "begin")
          progress(1900, "end")
        end
        publish(_G.tells and 1850 or 1100, { { range = { start = place, ["end"] = place }, message = "of its types" } })
      end },
    ]]):format(uri(place, "open.txt")))
    for _, tells in ipairs({ false, true }) do
      child:lua("_G.tells = ...; vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed ' .. tostring(...) })", tells)
      local said = answer(child, { type = "diagnostics", uri = uri(place, "open.txt") })
      support.equal({ said.status, #said.answer.documents[1].diagnostics }, { "ready", 1 })
    end
  end)
end

function T.a_server_that_never_speaks_of_problems_is_not_waited_for_long()
  with_files(files, function(child, place)
    serve(child, "formatter", "capabilities = { documentFormattingProvider = true }")
    local query = { type = "diagnostics", uri = uri(place, "open.txt") }
    support.equal(answer(child, query, 300).status, "timedOut")
    child:lua("require('azimuth.lang.diagnostics').PATIENCE = 100")
    local said = answer(child, query, 300)
    support.equal({ said.status, said.answer.documents[1].diagnostics }, { "ready", {} })
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    support.equal(answer(child, query, 300).status, "ready")
  end)
end

function T.a_server_that_can_be_asked_for_problems_is_asked()
  with_files(files, function(child, place)
    serve(child, "s", [[
      capabilities = { diagnosticProvider = { identifier = "id", interFileDependencies = false, workspaceDiagnostics = false } },
      answers = { ["textDocument/diagnostic"] = function(params)
        local place = { line = 0, character = 0 }
        return { kind = "full", items = { { range = { start = place, ["end"] = place }, message = "pulled by " .. params.identifier } } }
      end },
    ]])
    local said = answer(child, { type = "diagnostics", uri = uri(place, "open.txt") })
    support.equal({ said.status, said.answer.documents[1].version }, { "ready", said.version })
    support.equal(said.answer.documents[1].diagnostics, { { range = range(0, 0, 0), severity = "error", message = "pulled by id" } })
  end)
end

function T.a_server_that_says_late_that_it_can_be_asked_is_asked_then()
  with_files(files, function(child, place)
    serve(child, "s", [[
      answers = { ["textDocument/diagnostic"] = function()
        local place = { line = 0, character = 0 }
        return { kind = "full", items = { { range = { start = place, ["end"] = place }, message = "pulled" } } }
      end },
    ]])
    -- As pyright does, by a registration after its start; and it never publishes anything.
    child:lua([[
      require("azimuth.lang.diagnostics").PATIENCE = 1000
      vim.defer_fn(function()
        vim.lsp.get_clients({ name = "s" })[1].server_capabilities.diagnosticProvider =
          { interFileDependencies = false, workspaceDiagnostics = false }
      end, 300)
    ]])
    local said = answer(child, { type = "diagnostics", uri = uri(place, "open.txt") })
    support.equal({ said.status, #said.answer.documents[1].diagnostics }, { "ready", 1 })
  end)
end

function T.what_a_server_published_of_an_older_text_is_not_told_with_what_it_is_asked()
  with_files(files, function(child, place)
    serve(child, "s", ([[
      capabilities = { diagnosticProvider = { interFileDependencies = false, workspaceDiagnostics = false } },
      answers = (function()
        local place = { line = 0, character = 0 }
        local function problem(message) return { range = { start = place, ["end"] = place }, message = message } end
        return {
          ["textDocument/didOpen"] = function(params, _, server)
            vim.defer_fn(function()
              server.notify("textDocument/publishDiagnostics", { uri = %q, version = params.textDocument.version, diagnostics = { problem("as it was read") } })
            end, 50)
          end,
          ["textDocument/diagnostic"] = function() return { kind = "full", items = { problem("as it is") } } end,
        }
      end)(),
    ]]):format(uri(place, "open.txt")))
    child:wait("vim.iter(vim.diagnostic.get(_G.bufnr)):any(function(one) return one.message == 'as it was read' end)")
    local function messages()
      local said = answer(child, { type = "diagnostics", uri = uri(place, "open.txt") })
      support.equal(said.status, "ready")
      return vim.tbl_map(function(one) return one.message end, said.answer.documents[1].diagnostics)
    end
    support.equal(#messages(), 2)
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    support.equal(messages(), { "as it is" })
  end)
end

function T.problems_are_of_a_version_only_where_all_servers_say_so()
  with_files(files, function(child, place)
    child:lua("_G.says = function() end")
    serve(child, "vague", publisher(place))
    child:lua("_G.vague = _G.says; _G.says = function(version) return version end")
    serve(child, "exact", publisher(place))
    -- Each says of the text that was opened how it is; both are of use, and only one says of which version it is.
    child:wait("#vim.diagnostic.get(_G.bufnr) == 2")
    child:lua("_G.calls = 0; _G.says = function(version) _G.calls = _G.calls + 1; return _G.calls == 2 and version or nil end")
    child:lua("vim.api.nvim_buf_set_lines(_G.bufnr, 0, 1, true, { 'typed' })")
    local said = answer(child, { type = "diagnostics", uri = uri(place, "open.txt") })
    support.equal({ said.status, #said.answer.documents, said.answer.documents[1].version }, { "partial", 1 })
  end)
end

function T.actions_are_listed_and_one_is_told_as_an_edit()
  with_files(files, function(child, place)
    local open = uri(place, "open.txt")
    serve(child, "s", ([[
      capabilities = { codeActionProvider = { resolveProvider = true }, diagnosticProvider = { interFileDependencies = false, workspaceDiagnostics = false } },
      answers = (function()
        local place = { line = 0, character = 0 }
        local word = { start = place, ["end"] = { line = 0, character = 5 } }
        local edit = { changes = { [%q] = { { range = word, newText = "fixed" } } } }
        return {
          ["textDocument/diagnostic"] = function()
            return { kind = "full", items = { { range = word, message = "wrong", data = "kept" } } }
          end,
          ["textDocument/codeAction"] = function(params)
            _G.context = params.context
            return {
              { title = "Fix it", kind = "quickfix", isPreferred = true, diagnostics = params.context.diagnostics, data = 1 },
              { title = "Take out", kind = "refactor.extract", edit = edit, disabled = { reason = "nothing is chosen" } },
              { title = "Both", kind = "refactor.inline", edit = edit, command = { title = "x", command = "run" } },
              { title = "Old command", command = "old" },
            }
          end,
          ["codeAction/resolve"] = function(action)
            assert(action.data == 1)
            action.edit = edit
            return action
          end,
        }
      end)(),
    ]]):format(open))
    local query = { type = "codeActions", uri = open, range = range(0, 1, 1) }
    local command = "It is a command of the language server, whose effect is not known beforehand."
    support.equal(answer(child, query).answer.actions, {
      { title = "Fix it", kind = "quickfix", preferred = true },
      { title = "Take out", kind = "refactor.extract", preferred = false, disabled = "nothing is chosen" },
      { title = "Both", kind = "refactor.inline", preferred = false },
      { title = "Old command", preferred = false, disabled = command },
    })
    -- It was asked with the problems of the place, as the server had told them.
    support.equal(child:lua("return { _G.context.diagnostics[1].data, _G.context.triggerKind }"), { "kept", 1 })
    query.kind = "refactor"
    support.equal(#answer(child, query).answer.actions, 2)
    support.equal(child:lua("return _G.context.only"), { "refactor" })
    local function chosen(title)
      return answer(child, { type = "codeAction", uri = open, range = range(0, 1, 1), title = title })
    end
    local said = chosen("Fix it")
    support.equal(said.answer.changes, { { type = "text", uri = open, version = said.version, edits = { { range = range(0, 0, 5), newText = "fixed" } } } })
    support.equal({ chosen("Take out").status, chosen("Take out").message }, { "unsupported", "nothing is chosen" })
    support.equal(chosen("Both").status, "unsupported")
    support.equal({ chosen("Old command").status, chosen("Old command").message }, { "unsupported", command })
    support.equal({ chosen("Dance").status, chosen("Dance").message }, { "failed", 'There is no action "Dance" here.' })
    support.equal(child:lua("return vim.bo[_G.bufnr].modified"), false)
  end)
end

function T.an_action_that_a_server_makes_only_when_its_kind_is_asked_for_can_be_told()
  with_files(files, function(child, place)
    local open = uri(place, "open.txt")
    -- As the organizing of imports of typescript-language-server.
    serve(child, "s", ([[
      capabilities = { codeActionProvider = true },
      answers = { ["textDocument/codeAction"] = function(params)
        local place = { line = 0, character = 0 }
        local edit = { changes = { [%q] = { { range = { start = place, ["end"] = place }, newText = "sorted " } } } }
        local is_wanted = vim.deep_equal(params.context.only, { "source.organizeImports" })
        return is_wanted and { { title = "Organize", kind = "source.organizeImports", edit = edit } } or {}
      end },
    ]]):format(open))
    local query = { type = "codeAction", uri = open, range = range(0, 0, 0), title = "Organize" }
    support.equal(answer(child, query).status, "failed")
    query.kind = "source.organizeImports"
    support.equal(answer(child, query).answer.changes[1].edits, { { range = range(0, 0, 0), newText = "sorted " } })
  end)
end

function T.formatting_and_symbols_of_the_workspace_are_asked()
  with_files(files, function(child, place)
    local open = uri(place, "open.txt")
    serve(child, "s", ([[
      capabilities = { documentFormattingProvider = true, workspaceSymbolProvider = true, documentSymbolProvider = true },
      answers = (function()
        local function at(line, last) return { start = { line = line, character = 0 }, ["end"] = { line = last, character = 0 } } end
        local uri = %q
        return {
          ["textDocument/formatting"] = function(params)
            return { { range = at(0, 0), newText = (" "):rep(params.options.tabSize) } }
          end,
          ["workspace/symbol"] = function(params)
            return { { name = params.query, kind = 13, containerName = "box", location = { uri = uri } } }
          end,
          -- In no order, and without saying what is in what.
          ["textDocument/documentSymbol"] = function()
            return {
              { name = "inner", kind = 6, containerName = "outer", location = { uri = uri, range = at(1, 2) } },
              { name = "after", kind = 6, location = { uri = uri, range = at(2, 2) } },
              { name = "outer", kind = 5, location = { uri = uri, range = at(0, 3) } },
            }
          end,
        }
      end)(),
    ]]):format(open))
    child:lua("vim.bo[_G.bufnr].shiftwidth = 3")
    local said = answer(child, { type = "format", uri = open })
    support.equal(said.answer.changes, { { type = "text", uri = open, version = said.version, edits = { { range = range(0, 0, 0), newText = "   " } } } })
    said = answer(child, { type = "workspaceSymbols", query = "crab" })
    support.equal(said.answer.symbols, {
      { name = "crab", kind = 13, container = "box", depth = 0, location = { uri = open, range = range(0, 0, 0) }, selection = range(0, 0, 0) },
    })
    said = answer(child, { type = "documentSymbols", uri = open })
    support.equal(vim.tbl_map(function(symbol) return { symbol.name, symbol.depth } end, said.answer.symbols), { { "outer", 0 }, { "inner", 1 }, { "after", 1 } })
    said = answer(child, { type = "servers", uri = open })
    support.equal({ said.status, said.answer, said.servers[1].name }, { "ready", { type = "nothing" }, "s" })
  end)
end

return T
