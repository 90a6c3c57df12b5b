--- `:checkhealth azimuth`: what is there, what is missing, and what to do about it.

local client = require("azimuth.client")
local keys = require("azimuth.keys")
local server = require("azimuth.server")

local M = {}

local health = vim.health

local function check_editor()
  health.start("Azimuth: the editor")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim is older than 0.10.", { "Update Neovim." })
  end
  for _, language in ipairs({ "markdown", "markdown_inline" }) do
    if pcall(vim.treesitter.language.add, language) and pcall(vim.treesitter.query.get, language, "highlights") then
      health.ok(("The tree-sitter parser `%s` is there."):format(language))
    else
      health.warn(("The tree-sitter parser `%s` is missing, so the chat is not highlighted."):format(language), {
        "Neovim contains it; some distributions put it into a package of its own.",
      })
    end
  end
end

---@return string[]? cmd
local function check_program()
  health.start("Azimuth: the server")
  local cmd, where = server.command()
  if not cmd then
    health.error("The server was not found: " .. where)
    return nil
  end
  health.ok(("Found by %s: %s"):format(where, cmd[1]))
  local ran, result = pcall(function()
    return vim.system({ cmd[1], "--version" }, { text = true }):wait(5000)
  end)
  if ran and result.code == 0 then
    health.ok(vim.trim(result.stdout))
  else
    health.error(("%s --version failed."):format(cmd[1]), { "Check that it is Azimuth's server, built for this machine." })
  end
  return cmd
end

local function check_connection()
  local running = client.lsp_client()
  if not running then
    health.info("The server is not running. It starts with the first :Azimuth command.")
    return
  end
  health.ok(("The server runs as language client %d, for %s."):format(running.id, running.root_dir or "no folder"))
  local unknown = {}
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if client.is_document(bufnr) and not vim.lsp.buf_is_attached(bufnr, running.id) then
      table.insert(unknown, vim.api.nvim_buf_get_name(bufnr))
    end
  end
  if #unknown > 0 then
    health.warn("These open files are not known to the server: " .. table.concat(unknown, ", "), { "Open them again with :edit." })
  else
    health.ok("Every open file is known to the server.")
  end
  local session = client.session()
  health.info(session and ("The current session is %s."):format(session) or "No session is open.")
end

---@param cmd string[]
local function check_keys(cmd)
  health.start("Azimuth: models")
  local stored, problem = keys.stored()
  if problem then
    health.error(problem)
  end
  local stat = vim.uv.fs_stat(keys.path())
  if stat and stat.mode % 64 ~= 0 and vim.fn.has("win32") == 0 then
    health.error(("%s can be read by others."):format(keys.path()), { "chmod 600 " .. keys.path() })
  end
  for _, vendor in ipairs(keys.vendors) do
    if vim.env[vendor.variable] then
      health.ok(("%s: a key is in the environment."):format(vendor.name))
    elseif vim.tbl_contains(stored, vendor.variable) then
      health.ok(("%s: a key is stored."):format(vendor.name))
    end
  end
  local ran, result = pcall(function()
    return vim.system({ cmd[1], "models" }, { text = true, env = keys.environment() }):wait(10000)
  end)
  if ran and result.code == 0 then
    local lines = vim.split(vim.trim(result.stdout), "\n")
    local shown = vim.list_slice(lines, 1, 15)
    if #lines > #shown then
      table.insert(shown, ("and %d more; `:Azimuth! models` lists them all."):format(#lines - #shown))
    end
    health.info("`azimuth models` says:\n" .. table.concat(shown, "\n"))
  else
    health.warn("`azimuth models` failed.", { "Run `azimuth doctor` in a terminal; it says what is wrong and what to do." })
  end
end

--- Reports what `azimuth doctor` says: of the shell, the sandbox, and where the server keeps its files.
---@param cmd string[]
local function check_machine(cmd)
  health.start("Azimuth: this machine, by `azimuth doctor`")
  local ran, result = pcall(function()
    return vim.system({ cmd[1], "doctor" }, { text = true, env = keys.environment(), cwd = client.root() }):wait(10000)
  end)
  if not ran or result.stdout == "" then
    health.warn("`azimuth doctor` failed.", { "Run it in a terminal." })
    return
  end
  local says = { ok = health.ok, bad = health.warn }
  for line in vim.gsplit(vim.trim(result.stdout), "\n") do
    local sign, rest = line:match("^(%S+)%s+(.*)$")
    local say = says[sign]
    if say then
      say(rest)
    else
      health.info(rest or line)
    end
  end
end

function M.check()
  check_editor()
  local cmd = check_program()
  if cmd then
    check_connection()
    require("azimuth.language_servers").check()
    require("azimuth.inline").check()
    check_keys(cmd)
    check_machine(cmd)
  end
end

return M
