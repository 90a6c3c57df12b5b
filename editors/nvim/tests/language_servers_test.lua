--- `:Azimuth servers`: the language servers in a list. Our server is played in the editor itself, as the language servers of
--- lang_test.lua are, so that it can tell of servers in every state.

local support = require("support")

local T = {}

--- The played server. It says `_G.servers` and `_G.problems`, and knows the question at all if `_G.knows` is true.
local played = [[
  local fake, protocol = ...
  _G.fake = dofile(fake)
  _G.knows, _G.problems, _G.restarted = true, {}, {}
  local answers = {
    [protocol.requests.servers_list] = function(_, answer, server)
      _G.play, _G.asked = server, (_G.asked or 0) + 1
      if not _G.knows then
        answer({ code = -32601, message = "Method not found" })
      elseif not _G.slow then
        return { servers = _G.servers, problems = _G.problems }
      else
        vim.defer_fn(function() answer(nil, { servers = _G.servers, problems = _G.problems }) end, 100)
      end
    end,
    [protocol.requests.servers_restart] = function(params)
      table.insert(_G.restarted, params.name)
      return { restarted = params.name == "gopls" and 0 or 1 }
    end,
  }
  require("azimuth.client").start({ cmd = _G.fake.cmd({
    name = "azimuth", capabilities = { experimental = { azimuth = { protocol = require("azimuth.server").protocol } } }, answers = answers,
  }) })
]]

---@param child Child
---@param servers azimuth.ServerInfo[]
local function says(child, servers)
  child:lua("_G.servers = ...", servers)
end

---@param test fun(child: Child, place: Place)
---@param options? { columns: integer }
local function with_servers(test, options)
  local place = support.place({ ["a.txt"] = "a\n" })
  local child = support.start(place, options)
  local ok, problem = xpcall(function()
    child:command("edit a.txt")
    child:lua(played, support.plugin .. "/tests/lang_server.lua", require("azimuth.generated.protocol"))
    child:wait("require('azimuth.client').lsp_client() ~= nil")
    local root = vim.uri_from_fname(place.project)
    says(child, {
      { name = "gopls", root = root, state = "notStarted", program = "/usr/bin/gopls" },
      { name = "mine", root = root, state = "notAllowed", program = "/w/bin/mine", why = "it belongs to the project" },
      {
        name = "pyright",
        version = "1.1.400",
        root = root,
        state = "indexing",
        program = place.home .. "/bin/pyright",
        pid = 4711,
        memoryBytes = 312400000,
        why = "Finding references",
      },
      { name = "rust-analyzer", root = root, state = "crashed", why = "it ended with exit code 101\nthread main panicked" },
    })
    test(child, place)
  end, debug.traceback)
  child:stop()
  if not ok then
    error(problem, 0)
  end
end

---@param child Child
---@return string
local function shown(child)
  return child:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
end

---@param child Child
---@param text string
local function wait_for(child, text)
  child:wait(("table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n'):find(%q, 1, true) ~= nil"):format(text))
end

---@param child Child
---@param text string
local function go_to(child, text)
  child:lua("vim.fn.cursor(1, 1); assert(vim.fn.search(vim.fn.escape(..., '\\\\.'), 'cW') > 0)", text)
end

function T.the_list_says_how_it_stands_with_each()
  with_servers(function(child)
    child:lua([[
      _G.fake.start({ name = "lua_ls", capabilities = {} }, 0)
    ]])
    child:wait("#vim.lsp.get_clients({ name = 'lua_ls' }) == 1 and vim.lsp.get_clients({ name = 'lua_ls' })[1].initialized")
    child:lua("_G.problems = { '.azimuth/lsp.toml: line 3: no such field `comand`' }")
    child:command("Azimuth servers")
    wait_for(child, "pyright")
    local project = child:lua("return vim.fn.fnamemodify(vim.fn.getcwd(), ':~')")
    support.equal(vim.split(shown(child), "\n"), {
      "Run by Neovim, and asked first",
      "▸ lua_ls" .. (vim.fn.has("nvim-0.11") == 1 and " 1.2" or "") .. "  ready · 1 file",
      "  " .. project,
      "",
      "Run by Azimuth, where Neovim has none",
      "– gopls  starts with the first question",
      "  " .. project .. " · /usr/bin/gopls",
      "– mine  not allowed to start",
      "  " .. project .. " · /w/bin/mine",
      "  it belongs to the project",
      "◌ pyright 1.1.400  reads the project · 312 MB",
      "  " .. project .. " · ~/bin/pyright (4711)",
      "  Finding references",
      "✗ rust-analyzer  crashed",
      "  " .. project,
      "  it ended with exit code 101 thread main panicked",
      "",
      ".azimuth/lsp.toml: line 3: no such field `comand`",
    })
    support.contains(child:screen(), "r restarts · R refreshes · q closes")
    child:type("q")
    child:wait("vim.api.nvim_win_get_config(0).relative == ''")
  end)
end

function T.the_list_follows_what_happens_and_the_cursor_stays_on_its_server()
  with_servers(function(child, place)
    child:command("Azimuth servers")
    wait_for(child, "reads the project")
    go_to(child, "pyright")
    local root = vim.uri_from_fname(place.project)
    says(child, { { name = "clangd", root = root, state = "starting" }, { name = "pyright", root = root, state = "ready" } })
    child:lua("_G.play.notify(..., {})", require("azimuth.generated.protocol").notifications.servers_changed)
    wait_for(child, "▸ pyright  ready")
    support.contains(child:lua("return vim.api.nvim_get_current_line()"), "pyright")
    -- By hand, where nothing was said.
    says(child, { { name = "pyright", root = root, state = "stopped" } })
    child:type("R")
    wait_for(child, "– pyright  stopped")
    support.lacks(shown(child), "clangd")
    -- Many changes at once are asked about one after the other, and the last one counts.
    child:lua([[
      _G.slow, _G.asked = true, 0
      for _ = 1, 20 do _G.play.notify(..., {}) end
    ]], require("azimuth.generated.protocol").notifications.servers_changed)
    child:wait("_G.asked == 1")
    says(child, { { name = "pyright", root = root, state = "crashed" } })
    wait_for(child, "✗ pyright  crashed")
    support.equal(child:lua("return _G.asked"), 2)
    -- A list that is closed asks no more.
    child:type("q")
    child:wait("vim.api.nvim_win_get_config(0).relative == ''")
    child:lua("_G.play.notify(..., {})", require("azimuth.generated.protocol").notifications.servers_changed)
    child:lua("vim.wait(200)")
    support.equal(child:lua("return _G.asked"), 2)
  end)
end

function T.one_of_ours_is_restarted_and_one_of_neovims_is_not()
  with_servers(function(child)
    child:lua("_G.fake.start({ name = 'lua_ls', capabilities = {} }, 0)")
    child:command("Azimuth servers")
    wait_for(child, "pyright")
    local function press(name, answer)
      go_to(child, name)
      child:lua("_G.said = {}")
      child:type("r")
      child:wait("#_G.said > 0")
      support.equal(child:lua("return _G.said[1][1]"), "Azimuth: " .. answer)
    end
    press("pyright", "pyright was ended, and starts again with the next question.")
    -- On the lines below its name, too.
    press("it ended with exit code 101", "rust-analyzer was ended, and starts again with the next question.")
    press("gopls", "gopls is not running; it starts with the first question.")
    press("lua_ls", "lua_ls is run by Neovim, and is not Azimuth's to restart.")
    support.equal(child:lua("return _G.restarted"), { "pyright", "rust-analyzer", "gopls" })
    -- A heading is no server.
    child:lua("_G.said = {}; vim.fn.cursor(1, 1)")
    child:type("r")
    child:lua("vim.wait(50)")
    support.equal(child:lua("return #_G.said"), 0)
  end)
end

function T.what_keeps_it_from_knowing_is_said()
  with_servers(function(child)
    child:lua("_G.knows = false")
    child:command("Azimuth servers")
    wait_for(child, "Method not found")
    support.contains(shown(child), "  none\n\nMethod not found")
  end)
end

function T.it_fits_a_narrow_editor()
  with_servers(function(child)
    child:command("Azimuth servers")
    wait_for(child, "rust-analyzer")
    child:lua("for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do assert(vim.fn.strdisplaywidth(line) <= vim.api.nvim_win_get_width(0), line) end")
  end, { columns = 50 })
end

function T.health_says_it_too()
  with_servers(function(child)
    child:lua("_G.fake.start({ name = 'lua_ls', capabilities = {} }, 0)")
    child:lua("_G.problems = { 'lsp.toml cannot be read' }")
    child:command("checkhealth azimuth")
    local report = shown(child)
    support.contains(report, "lua_ls")
    support.contains(report, "pyright 1.1.400, run by Azimuth: reads the project · 312 MB")
    support.contains(report, "WARNING rust-analyzer, run by Azimuth: crashed")
    support.contains(report, "lsp.toml cannot be read")
  end)
end

return T
