--- How the plugin sits in the editor: starting, mappings, health, help, and `vim.lsp.enable`.

local models = require("model")
local support = require("support")

local T = {}

---@param child Child
---@return string
local function said(child)
  return vim.inspect(child:lua("return _G.said"))
end

function T.mappings_are_made_where_keys_are_free_and_can_be_turned_off()
  local place = support.place({})
  local child = support.start(place)
  support.equal(child:lua("return vim.fn.maparg('<Space>aa', 'n')"), "<Cmd>Azimuth chat<CR>")
  child:lua("vim.keymap.set('n', '<C-a>s', 'x')")
  child:lua("require('azimuth').setup({ prefix = '<C-a>' })")
  support.equal(child:lua("return vim.fn.maparg('<Space>aa', 'n')"), "")
  support.equal(child:lua("return vim.fn.maparg('<C-a>s', 'n')"), "x")
  support.equal(child:lua("return require('azimuth.mappings').shown('permission')"), "<C-A>p")
  support.equal(child:lua("return require('azimuth.mappings').shown('sessions')"), ":Azimuth sessions")
  child:lua("require('azimuth').setup({ mappings = false })")
  support.equal(child:lua("return vim.fn.maparg('<C-a>a', 'n')"), "")
  child:stop()
end

function T.subcommands_are_completed_and_unknown_ones_are_told()
  local place = support.place({})
  local child = support.start(place)
  support.equal(child:lua("return vim.fn.getcompletion('Azimuth mo', 'cmdline')"), { "mode", "models" })
  support.equal(child:lua("return vim.fn.getcompletion('Azimuth mode ', 'cmdline')"), { "ask", "plan", "agent", "accept-edits", "bypass" })
  child:command("Azimuth nonsense")
  support.contains(said(child), 'no subcommand "nonsense"')
  child:stop()
end

function T.every_file_is_known_to_the_server_and_nothing_else()
  local place = support.place({ ["a.txt"] = "a\n", ["b.txt"] = "b\n" })
  support.use_model(place, models.start({}))
  local child = support.start(place)
  child:command("edit a.txt")
  child:open_chat()
  child:command("stopinsert | topleft new b.txt")
  child:command("new fresh.txt")
  child:command("new")
  child:lua("vim.bo.buftype = 'nofile' vim.api.nvim_buf_set_name(0, 'scratch')")
  child:command("new")
  child:command("file named_later.txt")
  local attached = child:lua([[
    local id = require("azimuth.client").lsp_client().id
    local names = {}
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
      if vim.lsp.buf_is_attached(bufnr, id) then
        table.insert(names, vim.fs.basename(vim.api.nvim_buf_get_name(bufnr)))
      end
    end
    table.sort(names)
    return names
  ]])
  support.equal(attached, { "a.txt", "b.txt", "fresh.txt", "named_later.txt" })
  child:stop()
end

function T.the_server_can_ask_for_a_text_and_have_it_saved()
  local place = support.place({ ["a b.txt"] = "one\r\ntwo\r\n" })
  support.use_model(place, models.start({}))
  local child = support.start(place)
  child:command("edit a\\ b.txt")
  child:open_chat()
  local answers = child:lua([[
    local uri = vim.uri_from_fname(vim.fn.getcwd() .. "/a b.txt")
    local bufnr = vim.fn.bufnr("a b.txt")
    vim.api.nvim_buf_set_lines(bufnr, 0, 1, false, { "changed" })
    local handlers = require("azimuth.client").lsp_client().handlers
    local requests = require("azimuth.generated.protocol").client_requests
    local before = handlers[requests.editor_text](nil, { uri = uri })
    vim.bo[bufnr].endofline = false
    local open_ended = handlers[requests.editor_text](nil, { uri = uri })
    vim.bo[bufnr].endofline = true
    local saved = handlers[requests.editor_save](nil, { uri = uri })
    local none = handlers[requests.editor_text](nil, { uri = "file:///not/open" })
    local unsaved = handlers[requests.editor_save](nil, { uri = "file:///not/open" })
    return { before.text, open_ended.text, saved.saved, next(none) == nil, unsaved.saved }
  ]])
  support.equal(answers, { "changed\r\ntwo\r\n", "changed\r\ntwo", true, true, false })
  support.equal(support.read(place.project .. "/a b.txt"), "changed\r\ntwo\r\n")
  child:stop()
end

function T.a_document_that_a_command_has_changed_is_read_anew_unless_it_holds_unsaved_text()
  local place = support.place({ ["clean.txt"] = "one\n", ["mine.txt"] = "one\n" })
  local command = "echo two >> clean.txt && echo two >> mine.txt"
  support.use_model(place, models.start({
    { calls = { { name = "shell_run", input = { command = command } } } },
    { text = "Both are longer." },
  }), 'permissions.allow = ["Shell"]')
  local child = support.start(place)
  child:command("edit clean.txt | split mine.txt")
  child:type("Athree<Esc>")
  child:open_chat()
  child:prompt("Make them longer.")
  child:wait_for_question()
  child:command("stopinsert")
  child:lua([[
    local permission = require("azimuth.permission")
    local question = permission.open()[1]
    for _, option in ipairs(question.request.options) do
      if option.name:find("without saving") then
        permission.answer(question, option)
      end
    end
  ]])
  child:wait_for("Both are longer.")
  child:wait([[#vim.api.nvim_buf_get_lines(vim.fn.bufnr("clean.txt"), 0, -1, true) == 2]])
  support.equal(child:lua([[return vim.api.nvim_buf_get_lines(vim.fn.bufnr("mine.txt"), 0, -1, true)]]), { "onethree" })
  support.equal(support.read(place.project .. "/mine.txt"), "one\ntwo\n")
  child:stop()
end

function T.the_server_can_be_enabled_as_any_other()
  if vim.fn.has("nvim-0.11") == 0 then
    return
  end
  local place = support.place({ ["a.txt"] = "a\n" })
  support.use_model(place, models.start({ { text = "Enabled." } }))
  local child = support.start(place)
  child:command("edit a.txt")
  child:lua("vim.lsp.enable('azimuth')")
  child:wait("require('azimuth.client').lsp_client() ~= nil")
  child:open_chat()
  child:prompt("Hello.")
  child:wait_for("Enabled.")
  support.equal(child:lua("return #vim.lsp.get_clients({ name = 'azimuth' })"), 1)
  child:stop()
end

function T.a_stored_key_reaches_a_server_that_the_users_own_command_starts()
  if vim.fn.has("nvim-0.11") == 0 then
    return
  end
  for _, start in ipairs({ "vim.lsp.enable('azimuth')", "require('azimuth.client').start()" }) do
    local place = support.place({ ["a.txt"] = "a\n" })
    support.write(place.home .. "/data/nvim/azimuth/keys.json", '{"OPENAI_API_KEY":"sk-stored"}')
    local child = support.start(place)
    child:lua("vim.lsp.config('azimuth', { cmd = { vim.env.AZIMUTH_SERVER, 'lsp' } })")
    child:command("edit a.txt")
    child:lua(start)
    child:wait("require('azimuth.client').lsp_client() ~= nil")
    local pid = child:lua("return vim.trim(vim.fn.system({ 'pgrep', '-P', tostring(vim.fn.getpid()), '-x', 'azimuth' }))")
    support.contains(support.read("/proc/" .. pid .. "/environ"), "OPENAI_API_KEY=sk-stored")
    child:stop()
  end
end

function T.the_root_is_that_of_the_file_which_the_server_is_enabled_for()
  if vim.fn.has("nvim-0.11") == 0 then
    return
  end
  local place = support.place({ ["inner/.git/HEAD"] = "", ["inner/a.txt"] = "a\n", ["b.txt"] = "b\n" })
  local child = support.start(place)
  child:command("edit b.txt")
  local root = child:lua([[
    local bufnr = vim.fn.bufadd("inner/a.txt")
    vim.fn.bufload(bufnr)
    local root
    vim.lsp.config.azimuth.root_dir(bufnr, function(found) root = found end)
    return root
  ]])
  support.equal(root, place.project .. "/inner")
  child:stop()
end

function T.a_server_of_another_protocol_is_refused_with_words()
  local place = support.place({})
  support.use_model(place, models.start({}))
  local child = support.start(place)
  child:lua("require('azimuth.server').protocol = 99")
  child:command("Azimuth chat")
  child:wait("#_G.said > 0")
  support.contains(said(child), "version 1 of its protocol, and this plugin version 99. Update the server")
  child:stop()
end

function T.health_says_what_is_there()
  local place = support.place({})
  local child = support.start(place)
  child:command("checkhealth azimuth")
  local report = child:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
  support.contains(report, "Found by the setting `cmd`")
  support.contains(report, "The server is not running")
  support.contains(report, "shell: bash")
  support.lacks(report, "ERROR")
  child:lua("require('azimuth').setup({ cmd = { '/no/such' } })")
  child:command("checkhealth azimuth")
  report = child:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
  support.contains(report, "The server was not found")
  child:stop()
end

function T.methods_and_errors_are_named_by_the_generated_file_alone()
  local files = vim.fn.glob(support.plugin .. "/lua/**/*.lua", true, true)
  assert(#files > 20, "the files of the plugin are found")
  for _, file in ipairs(files) do
    if not file:find("/generated/", 1, true) then
      local typed = support.read(file):match("[\"'](azimuth/%l+/%l+)[\"']")
      assert(not typed, ("%s types the method %s by hand"):format(file, tostring(typed)))
      local code = support.read(file):match("%-32%d%d%d")
      assert(not code or file:find("/client.lua", 1, true), ("%s types the error code %s by hand"):format(file, tostring(code)))
    end
  end
end

function T.the_help_names_every_subcommand_setting_and_mapping()
  local help = support.read(support.plugin .. "/doc/azimuth.txt")
  for name in pairs(require("azimuth.command").subcommands) do
    assert(help:find("Azimuth[!%]]* " .. name) or help:find("`" .. name .. "`"), name .. " is not in the help")
  end
  for name in pairs(require("azimuth.config").defaults) do
    support.contains(help, name .. " = ")
  end
  for _, mapping in ipairs(require("azimuth.mappings").defaults) do
    support.contains(help, "<leader>a" .. mapping.key .. "\t")
  end
  for name, link in pairs(require("azimuth.highlights").groups) do
    assert(help:find(name .. "%s+" .. link), name .. " is not in the help")
  end
  local tags = vim.uv.fs_mkdtemp(vim.uv.os_tmpdir() .. "/azimuth-doc-XXXXXX")
  local all = help
  support.write(tags .. "/azimuth.txt", help)
  local pages = { "azimuth-review.txt", "azimuth-change.txt", "azimuth-inline.txt", "azimuth-edits.txt", "azimuth-shell.txt" }
  for _, page in ipairs(pages) do
    local text = support.read(support.plugin .. "/doc/" .. page)
    support.write(tags .. "/" .. page, text)
    all = all .. text
  end
  vim.cmd("helptags " .. tags)
  local known = support.read(tags .. "/tags")
  vim.fn.delete(tags, "rf")
  for tag in all:gmatch("|(:?[aA]zimuth[%w:.-]*)|") do
    support.contains(known, tag .. "\t")
  end
end

return T
