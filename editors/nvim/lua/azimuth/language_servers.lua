--- `:Azimuth servers`: the language servers that are asked about code, Neovim's and those of our own, with how it stands with each.

local blocks = require("azimuth.render.block")
local client = require("azimuth.client")
local clients = require("azimuth.lang.clients")
local lists = require("azimuth.list")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

local requests = protocol.requests

--- The list that is open.
---@type azimuth.List?
local list = nil

---@type table<azimuth.ServerState, { sign: string, group: string, says: string }>
local states = {
  notStarted = { sign = "–", group = "AzimuthDim", says = "starts with the first question" },
  notAllowed = { sign = "–", group = "AzimuthWarning", says = "not allowed to start" },
  missing = { sign = "✗", group = "AzimuthWarning", says = "its program was not found" },
  starting = { sign = "◌", group = "AzimuthRunning", says = "starting" },
  indexing = { sign = "◌", group = "AzimuthRunning", says = "reads the project" },
  ready = { sign = "▸", group = "AzimuthDone", says = "ready" },
  crashed = { sign = "✗", group = "AzimuthFailed", says = "crashed" },
  stopped = { sign = "–", group = "AzimuthDim", says = "stopped" },
}

--- A language server as the list shows it.
---@class azimuth.ShownServer
---@field id string
---@field name string
---@field version? string
---@field sign string
---@field group string
---@field says string[] Its state, and what it takes.
---@field where string[] The folder that it is for, and its program.
---@field why? string
---@field is_own boolean Whether it is ours, and not one that Neovim runs.

---@class azimuth.ShownServers
---@field neovims azimuth.ShownServer[]
---@field own? azimuth.ShownServer[] Nil until our server has told.
---@field problems string[] What is wrong with configuration files, or why nothing was told.

---@param path string
---@return string
local function short(path)
  return vim.fn.fnamemodify(path, ":~")
end

--- The language servers that Neovim runs, ours excepted.
---@return azimuth.ShownServer[]
local function neovims()
  local found = clients.others(-1)
  local function shown(from, is_ready)
    local server = clients.server(from)
    local busy = clients.busy_with(from)
    local state = states[not is_ready and "starting" or busy and "indexing" or "ready"]
    return {
      id = ("neovim %d"):format(from.id),
      name = server.name,
      version = server.version,
      sign = state.sign,
      group = state.group,
      says = { state.says, text.plural(vim.tbl_count(from.attached_buffers), "file") },
      where = { from.root_dir and short(from.root_dir) or "no folder" },
      why = busy,
      is_own = false,
    }
  end
  local all = {}
  for _, from in ipairs(found.ready) do
    table.insert(all, shown(from, true))
  end
  for _, from in ipairs(found.starting) do
    table.insert(all, shown(from, false))
  end
  return all
end

---@param info azimuth.ServerInfo
---@return azimuth.ShownServer
local function own(info)
  local state = states[info.state] or { sign = "?", group = "AzimuthDim", says = tostring(info.state) }
  local ok, root = pcall(vim.uri_to_fname, info.root)
  local program = info.program and short(info.program)
  return {
    id = ("own %s %s"):format(info.name, info.root),
    name = info.name,
    version = info.version,
    sign = state.sign,
    group = state.group,
    says = { state.says, info.memoryBytes and text.bytes(info.memoryBytes) },
    where = { short(ok and root or info.root), program and info.pid and ("%s (%d)"):format(program, info.pid) or program },
    why = info.why,
    is_own = true,
  }
end

--- All that is to be shown, out of what our server told.
---@param err? azimuth.Error
---@param result? azimuth.ServersListResult
---@return azimuth.ShownServers
local function shown(err, result)
  return {
    neovims = neovims(),
    own = result and vim.tbl_map(own, result.servers) or {},
    problems = err and { err.message } or result and result.problems or {},
  }
end

-- The list ----------------------------------------------------------------------------------------------------------

---@param server azimuth.ShownServer
---@return string
local function title(server)
  local name = server.version and ("%s %s"):format(server.name, server.version) or server.name
  return vim.fn.strtrans(text.one_line(name))
end

---@param parts string[]
---@return string
local function joined(parts)
  return vim.fn.strtrans(text.one_line(table.concat(parts, " · ")))
end

--- The lines of the list, and the server at each.
---@param servers azimuth.ShownServers
---@param width integer
---@return azimuth.Block
---@return table<integer, azimuth.ShownServer>
function M.drawn(servers, width)
  local block, items = blocks.new(), {}
  local function put(server)
    local rest = joined(server.says)
    local room = math.max(12, width - vim.fn.strdisplaywidth(rest) - 6)
    local line = ("%s %s"):format(server.sign, text.shortened(title(server), room))
    blocks.put(block, ("%s  %s"):format(line, rest))
    local row = #block.lines - 1
    table.insert(block.marks, { row = row, col = 0, end_col = #server.sign, group = server.group })
    table.insert(block.marks, { row = row, col = #line, group = "AzimuthDim" })
    items[#block.lines] = server
    for _, below in ipairs({ joined(server.where), server.why and joined({ server.why }) }) do
      blocks.put(block, "  " .. text.shortened(below, width - 4), "AzimuthDim")
      items[#block.lines] = server
    end
  end
  local function part(heading, of, otherwise)
    blocks.put(block, text.shortened(heading, width), "AzimuthUser")
    vim.tbl_map(put, of or {})
    if not of or #of == 0 then
      blocks.put(block, "  " .. otherwise, "AzimuthDim")
    end
  end
  part("Run by Neovim, and asked first", servers.neovims, "none")
  blocks.put(block, "")
  part("Run by Azimuth, where Neovim has none", servers.own, servers.own and "none" or "…")
  if #servers.problems > 0 then
    blocks.put(block, "")
  end
  for _, problem in ipairs(servers.problems) do
    blocks.put(block, text.shortened(vim.fn.strtrans(text.one_line(problem)), width), "AzimuthWarning")
  end
  return block, items
end

---@param server azimuth.ShownServer
---@param renew fun()
local function restart(server, renew)
  if not server.is_own then
    vim.notify(("Azimuth: %s is run by Neovim, and is not Azimuth's to restart."):format(server.name))
    return
  end
  client.request(requests.servers_restart, { name = server.name }, function(err, result)
    if err then
      vim.notify(("Azimuth: %s could not be restarted: %s"):format(server.name, err.message), vim.log.levels.ERROR)
    elseif result.restarted == 0 then
      vim.notify(("Azimuth: %s is not running; it starts with the first question."):format(server.name))
    else
      vim.notify(("Azimuth: %s was ended, and starts again with the next question."):format(server.name))
    end
    renew()
  end)
end

--- Asks our server, one question at a time: what changes while it answers is asked for anew.
---@param callback fun(err?: azimuth.Error, result?: azimuth.ServersListResult)
---@return fun() renew
local function asker(callback)
  local asks, is_old = false, false
  local function renew()
    is_old = asks
    if asks then
      return
    end
    asks = true
    client.request(requests.servers_list, {}, function(err, result)
      asks = false
      callback(err, result)
      if is_old then
        renew()
      end
    end)
  end
  return renew
end

local function open()
  if list then
    list:close()
  end
  local servers = { neovims = neovims(), problems = {} }
  local mine
  local renew = asker(function(err, result)
    servers = shown(err, result)
    mine:draw()
  end)
  local off = client.on_notification(protocol.notifications.servers_changed, renew)
  mine = lists.open({
    title = "Language servers",
    footer = { "r restarts", "R refreshes", "q closes" },
    draw = function(width)
      return M.drawn(servers, width)
    end,
    keys = {
      {
        key = "r",
        desc = "restart the language server",
        run = function(server)
          restart(server, renew)
        end,
      },
      { key = "R", desc = "refresh", run = renew, always = true },
    },
    id = function(server)
      return server.id
    end,
    closed = function()
      off()
      list = nil
    end,
  })
  list = mine
  renew()
end

--- Runs `:Azimuth servers`.
function M.command()
  open()
end

-- The health check --------------------------------------------------------------------------------------------------

--- Says in `:checkhealth` how it stands with the language servers. Waits for our server, as health checks do.
function M.check()
  vim.health.start("Azimuth: language servers")
  local answer
  if client.lsp_client() then
    client.request(requests.servers_list, {}, function(err, result)
      answer = shown(err, result)
    end)
    vim.wait(3000, function()
      return answer ~= nil
    end, 10)
  end
  local servers = answer or { neovims = neovims(), own = {}, problems = {} }
  for _, server in ipairs(vim.list_extend(vim.list_slice(servers.neovims), servers.own)) do
    local line = ("%s, run by %s: %s"):format(title(server), server.is_own and "Azimuth" or "Neovim", joined(server.says))
    local below = { joined(server.where), server.why and joined({ server.why }) }
    if server.group == "AzimuthFailed" or server.group == "AzimuthWarning" then
      vim.health.warn(line, below)
    else
      vim.health.info(line .. "\n" .. table.concat(below, "\n"))
    end
  end
  vim.tbl_map(vim.health.warn, servers.problems)
  if not client.lsp_client() then
    vim.health.info("Once Azimuth is running, it says which language servers it would run itself.")
  elseif not answer then
    vim.health.warn("Azimuth did not say in time which ones it runs itself.")
  elseif #servers.neovims + #servers.own == 0 then
    vim.health.info("None runs, and none is known for this project.")
  end
end

return M
