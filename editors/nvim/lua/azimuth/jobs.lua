--- `:Azimuth jobs`: the terminals of a session in a list, with what runs in them, and keys to show and to end it.

local act = require("azimuth.terminal.act")
local blocks = require("azimuth.render.block")
local client = require("azimuth.client")
local lists = require("azimuth.list")
local protocol = require("azimuth.generated.protocol")
local shown = require("azimuth.render.commands")
local text = require("azimuth.text")

local M = {}

--- The list that is open.
---@type azimuth.List?
local list = nil

---@param message string
local function say(message)
  vim.notify("Azimuth: " .. message)
end

---@return integer Milliseconds since the Unix epoch.
local function now()
  local seconds, microseconds = vim.uv.gettimeofday()
  return seconds * 1000 + math.floor(microseconds / 1000)
end

--- How long a job has run, or ran; of a shell, how long its command does.
---@param info azimuth.TerminalInfo
---@return string?
local function age(info)
  local since = info.kind == "job" and info.startedAt or info.running and info.running.startedAt
  if not since then
    return nil
  end
  local seconds = math.max(0, math.floor(((info.endedAt or now()) - since) / 1000))
  if seconds < 60 then
    return ("%d s"):format(seconds)
  elseif seconds < 3600 then
    return ("%d min"):format(math.floor(seconds / 60))
  end
  return ("%d h %d min"):format(math.floor(seconds / 3600), math.floor(seconds / 60) % 60)
end

---@param info azimuth.TerminalInfo
---@return string sign
---@return string group
local function look(info)
  if shown.is_waiting(info) then
    return "?", "AzimuthAsk"
  elseif info.kind ~= "job" then
    return info.running and "◌" or "–", info.running and "AzimuthRunning" or "AzimuthDim"
  elseif info.alive then
    local is_up = info.ready and (info.ready.line or #info.ready.ports > 0)
    return is_up and "▸" or "◌", is_up and "AzimuthDone" or "AzimuthRunning"
  elseif info.exitCode == 0 then
    return "✓", "AzimuthDone"
  end
  return info.exitCode and "✗" or "–", info.exitCode and "AzimuthFailed" or "AzimuthDim"
end

--- The lines of the list, and the terminal at each.
---@param infos azimuth.TerminalInfo[]
---@param width integer
---@return azimuth.Block
---@return table<integer, azimuth.TerminalInfo>
function M.drawn(infos, width)
  local block, items = blocks.new(), {}
  for _, info in ipairs(infos) do
    local sign, group = look(info)
    local parts = { shown.state(info) }
    if info.taken then
      table.insert(parts, "you have it")
    end
    table.insert(parts, age(info))
    local rest = table.concat(parts, " · ")
    local room = math.max(12, width - vim.fn.strdisplaywidth(rest) - 6)
    local line = ("%s %s"):format(sign, text.shortened(act.described(info), room))
    local title_end = #line
    blocks.put(block, ("%s  %s"):format(line, rest))
    local row = #block.lines - 1
    table.insert(block.marks, { row = row, col = 0, end_col = #sign, group = group })
    table.insert(block.marks, { row = row, col = title_end, group = shown.is_waiting(info) and "AzimuthAsk" or "AzimuthDim" })
    items[#block.lines] = info
    local below = shown.is_waiting(info) and shown.prompt(info.waiting) or info.ready and info.ready.line
    if below and below ~= "" then
      blocks.put(block, "  " .. text.shortened(vim.fn.strtrans(text.one_line(below)), width - 4), "AzimuthDim")
      items[#block.lines] = info
    end
  end
  if #infos == 0 then
    blocks.put(block, "No command has run yet.", "AzimuthDim")
  end
  return block, items
end

--- Opens what listens on a port of a job's, in the browser.
---@param info azimuth.TerminalInfo
local function browse(info)
  local ports = info.ready and info.alive and info.ready.ports or {}
  if #ports == 0 then
    say(("%s listens on no port."):format(act.name(info)))
    return
  end
  local function open(port)
    if not port then
      return
    end
    local _, problem = vim.ui.open(("http://localhost:%d"):format(port))
    if problem then
      vim.notify("Azimuth: " .. problem, vim.log.levels.ERROR)
    end
  end
  if #ports == 1 then
    open(ports[1])
  else
    vim.ui.select(ports, { prompt = "Azimuth: which port?" }, open)
  end
end

---@param session_id azimuth.SessionId
---@return azimuth.ListKey[]
local function keys(session_id)
  local function end_it(info)
    if info.alive and (info.kind == "job" or info.running) then
      act.kill(session_id, info.terminalId)
    else
      say(("nothing is running in %s."):format(act.name(info)))
    end
  end
  return {
    {
      key = "<CR>",
      desc = "show the terminal",
      run = function(info)
        if list then
          list:close()
        end
        require("azimuth.terminal").open(session_id, { terminal = info, focus = true })
      end,
    },
    { key = "x", desc = "end what runs in it", run = end_it },
    { key = "K", desc = "end what runs in it", run = end_it },
    {
      key = "s",
      desc = "send a signal",
      run = function(info)
        act.signal(session_id, info)
      end,
    },
    {
      key = "gx",
      desc = "open its port in the browser",
      run = browse,
    },
  }
end

--- Opens the list, which follows what happens.
---@param session_id azimuth.SessionId
function M.open(session_id)
  if list then
    list:close()
  end
  local timer
  local offs = {}
  local mine = lists.open({
    title = "Terminals and jobs",
    footer = { "Enter shows", "x ends", "s signals", "gx browses", "q closes" },
    draw = function(width)
      return M.drawn(act.all(session_id), width)
    end,
    keys = keys(session_id),
    id = function(info)
      return info.terminalId
    end,
    closed = function()
      timer:stop()
      timer:close()
      for _, off in ipairs(offs) do
        off()
      end
      list = nil
    end,
  })
  list = mine
  local function draw()
    mine:draw()
  end
  -- Ages grow.
  timer = assert(vim.uv.new_timer())
  timer:start(1000, 1000, vim.schedule_wrap(draw))
  table.insert(offs, client.on("terminalChanged", draw))
  client.request(protocol.requests.terminal_list, { sessionId = session_id }, function(err, result)
    local state = client.state(session_id)
    if not err and state then
      require("azimuth.fold.terminals").take(state, result.terminals, {})
      draw()
    elseif err then
      vim.notify("Azimuth: the terminals could not be listed: " .. err.message, vim.log.levels.ERROR)
    end
  end)
end

return M
