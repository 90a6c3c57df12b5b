--- A session's terminal as a terminal buffer: its bytes come in by offset, what is typed goes out.
---
--- Bytes come only while a window shows the buffer. What was missed comes when one does again.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")
local filter = require("azimuth.terminal.filter")
local text = require("azimuth.text")

local M = {}

--- Lines that can be scrolled back.
local SCROLLBACK = 10000
--- After how many bytes the server is told how far we have come, well below the 256 KiB that it sends ahead.
local ACK_AFTER = 64 * 1024

---@class azimuth.terminal.View
---@field key string
---@field session_id azimuth.SessionId
---@field terminal_id? azimuth.TerminalId Of the shell, known once it was opened.
---@field bufnr integer
---@field channel integer
---@field offset integer Of the next byte to come.
---@field acked integer How far the server knows that we have come.
---@field live_from? integer Where what was printed before the terminal was opened ends; nil while that is not known.
---@field follows boolean Whether the server sends what is printed.
---@field gone boolean Whether the server no longer has the terminal.
---@field filter azimuth.terminal.Filter
---@field size? azimuth.TerminalSize The size that the server knows.
---@field alive boolean
---@field typed string Keys that wait to be sent.
---@field writing boolean Whether the server has keys that it has not yet taken.
---@field refused boolean Whether it was said that keys are not taken now.
local View = {}
View.__index = View

---@type table<string, azimuth.terminal.View>
local views = {}

---@param err azimuth.Error
---@param what string
local function failed(err, what)
  if err.code ~= client.connection_lost then
    vim.notify(("Azimuth: %s: %s"):format(what, err.message), vim.log.levels.ERROR)
  end
end

--- A view's key. The session has one shell, whose id may not be known yet.
---@param session_id azimuth.SessionId
---@param info? azimuth.TerminalInfo
---@return string
local function key_of(session_id, info)
  return session_id .. " " .. ((not info or info.kind == "shell") and "shell" or info.terminalId)
end

--- The open view of a terminal.
---@param session_id azimuth.SessionId
---@param info? azimuth.TerminalInfo Without it, the session's shell.
---@return azimuth.terminal.View?
function M.get(session_id, info)
  return views[key_of(session_id, info)]
end

--- The view that a buffer is.
---@param bufnr integer
---@return azimuth.terminal.View?
function M.of_buffer(bufnr)
  for _, view in pairs(views) do
    if view.bufnr == bufnr then
      return view
    end
  end
end

--- The view that shows a terminal by its id.
---@param session_id azimuth.SessionId
---@param terminal_id azimuth.TerminalId
---@return azimuth.terminal.View?
local function by_id(session_id, terminal_id)
  for _, view in pairs(views) do
    if view.session_id == session_id and view.terminal_id == terminal_id then
      return view
    end
  end
end

---@return azimuth.terminal.View[]
function M.all()
  return vim.tbl_values(views)
end

--- Names a buffer after its terminal. Terminals of other sessions may have the same name.
---@param bufnr integer
---@param session_id azimuth.SessionId
---@param info? azimuth.TerminalInfo
local function name(bufnr, session_id, info)
  local short = "shell"
  if info and info.kind == "job" then
    short = ("%s %s"):format(info.terminalId, vim.fn.strtrans(text.one_line(info.title, 40)))
  elseif info then
    short = info.kind
  end
  local named = "azimuth://terminal/" .. short
  if not pcall(vim.api.nvim_buf_set_name, bufnr, named) then
    vim.api.nvim_buf_set_name(bufnr, ("%s (%s)"):format(named, session_id))
  end
end

--- The view of a terminal, made if there is none. It is not yet shown anywhere.
---@param session_id azimuth.SessionId
---@param info? azimuth.TerminalInfo Without it, the session's shell.
---@return azimuth.terminal.View
function M.make(session_id, info)
  local key = key_of(session_id, info)
  if views[key] then
    return views[key]
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  local view = setmetatable({
    key = key,
    session_id = session_id,
    terminal_id = info and info.terminalId,
    bufnr = bufnr,
    offset = 0,
    acked = 0,
    follows = false,
    gone = false,
    filter = filter.new(),
    alive = true,
    typed = "",
    writing = false,
    refused = false,
  }, View)
  view.channel = vim.api.nvim_open_term(bufnr, {
    on_input = function(_, _, _, typed)
      view:write(typed)
    end,
  })
  name(bufnr, session_id, info)
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].scrollback = SCROLLBACK
  vim.bo[bufnr].filetype = "azimuth-terminal"
  vim.api.nvim_create_autocmd("BufWinLeave", {
    buffer = bufnr,
    callback = vim.schedule_wrap(function()
      view:rest()
    end),
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    callback = function()
      view:leave()
      views[key] = nil
    end,
  })
  views[key] = view
  return view
end

--- The size of the windows that show it: as large as the largest of them, as the emulator is.
---@return azimuth.TerminalSize?
function View:window_size()
  local size
  for _, window in ipairs(vim.fn.win_findbuf(self.bufnr)) do
    local info = vim.fn.getwininfo(window)[1]
    size = size or { columns = 1, rows = 1 }
    size.columns = math.min(1000, math.max(size.columns, info.width - info.textoff))
    size.rows = math.min(1000, math.max(size.rows, info.height))
  end
  return size
end

--- Follows the terminal from the last byte that was seen.
---@param callback? fun(followed: boolean) Called once it is followed, or cannot be.
function View:follow(callback)
  callback = callback or function() end
  local size = self:window_size()
  local params = {
    sessionId = self.session_id,
    terminalId = self.terminal_id,
    since = self.offset,
    size = size,
    acknowledges = true,
  }
  self.live_from = nil
  self.follows = true
  client.request(protocol.requests.terminal_open, params, function(err, result)
    if err then
      self.follows = false
      self.gone = err.code == protocol.error_codes.notFound
      -- The output that a terminal has shown stays when it is gone.
      if not (self.gone and self.offset > 0) then
        failed(err, "the terminal could not be opened")
      end
      callback(false)
      return
    end
    self.gone = false
    self.size = size
    if self.terminal_id and self.terminal_id ~= result.terminalId then
      -- Another terminal has other offsets.
      self.terminal_id = result.terminalId
      self.offset, self.acked = 0, 0
      self:show("\27c")
      self:follow(callback)
      return
    end
    self.terminal_id = result.terminalId
    self.alive = result.alive
    if result.since > self.offset then
      self:show(("\27[0m\r\n[%d bytes of older output are no longer kept]\r\n"):format(result.since - self.offset))
      self.offset = result.since
    end
    self.acked = self.offset
    self:find_live()
    callback(true)
  end)
end

--- Finds out where old output ends: what it asked the emulator was answered, or not, when it was printed.
function View:find_live()
  client.request(protocol.requests.terminal_list, { sessionId = self.session_id }, function(err, result)
    -- Without an answer, what comes from here on is taken for new.
    self.live_from = self.offset
    for _, info in ipairs(not err and result.terminals or {}) do
      if info.terminalId == self.terminal_id then
        self.live_from = info["end"]
      end
    end
  end)
end

--- No longer follows the terminal. What runs in it goes on.
function View:leave()
  if not self.follows or not self.terminal_id then
    return
  end
  self.follows = false
  local params = { sessionId = self.session_id, terminalId = self.terminal_id }
  -- A terminal that is gone needs no leave-taking.
  client.request(protocol.requests.terminal_close, params, function() end)
end

--- Leaves a terminal that no window shows any more.
function View:rest()
  if vim.api.nvim_buf_is_valid(self.bufnr) and #vim.fn.win_findbuf(self.bufnr) == 0 then
    self:leave()
  end
end

--- Follows the terminal if a window shows it.
---@param callback? fun() Called when it is known whether it can be followed.
function View:resume(callback)
  if not self.follows and not self.gone and #vim.fn.win_findbuf(self.bufnr) > 0 then
    self:follow(callback)
  end
end

---@param bytes string
function View:show(bytes)
  if bytes ~= "" and vim.api.nvim_buf_is_valid(self.bufnr) then
    vim.api.nvim_chan_send(self.channel, bytes)
  end
end

--- True if the user's keys go into this terminal.
---@return boolean
function View:at_keyboard()
  return vim.api.nvim_get_current_buf() == self.bufnr
    and vim.api.nvim_get_mode().mode == "t"
end

--- Takes output in. Bytes that were seen already are passed over, so that following twice does no harm.
---@param bytes string
---@param offset integer Of the first byte.
function View:output(bytes, offset)
  local seen = self.offset - offset
  if seen >= #bytes then
    return
  elseif seen > 0 then
    bytes = bytes:sub(seen + 1)
    offset = self.offset
  end
  -- A piece may hold the last of the old and the first of the new.
  local old = self.live_from and self.live_from - offset or 0
  if old > 0 and old < #bytes then
    self:output(bytes:sub(1, old), offset)
    self:output(bytes:sub(old + 1), offset + old)
    return
  end
  local is_new = self.live_from ~= nil and offset >= self.live_from
  self.offset = offset + #bytes
  self:show(self.filter:feed(bytes, is_new and self:at_keyboard()))
  self:acknowledge()
end

--- Tells the server how far we have come, now and then. The emulator has taken in what was shown.
function View:acknowledge()
  if self.offset - self.acked < ACK_AFTER or not self.follows then
    return
  end
  self.acked = self.offset
  local params = { sessionId = self.session_id, terminalId = self.terminal_id, offset = self.offset }
  -- Where it fails nothing more comes, which the failed connection says.
  client.request(protocol.requests.terminal_ack, params, function() end)
end

--- Takes in what the server sends.
---@param params azimuth.TerminalOutputParams
function M.output(params)
  local view = by_id(params.sessionId, params.terminalId)
  if view then
    view:output(vim.base64.decode(params.data), params.offset)
  end
end

--- Types into the terminal. What is typed while the server has not yet taken the last keys goes with the next request, so
--- that keys cannot overtake each other.
---@param typed string
function View:write(typed)
  self.typed = self.typed .. typed
  if not self.writing then
    self:send_typed()
  end
end

function View:send_typed()
  local typed = self.typed
  self.typed = ""
  if typed == "" or not self.terminal_id then
    return
  end
  self.writing = true
  client.request(protocol.requests.terminal_write, {
    sessionId = self.session_id,
    terminalId = self.terminal_id,
    data = vim.base64.encode(typed),
  }, function(err)
    self.writing = false
    -- Once is enough for a whole line of keys.
    if err and not self.refused then
      failed(err, "the terminal did not take what was typed")
    end
    self.refused = err ~= nil
    self:send_typed()
  end)
end

--- Tells the server when the window's size has changed.
function View:resize()
  local size = self:window_size()
  if not size or not self.terminal_id or vim.deep_equal(size, self.size) then
    return
  end
  self.size = size
  client.request(protocol.requests.terminal_resize, {
    sessionId = self.session_id,
    terminalId = self.terminal_id,
    size = size,
  }, function(err)
    if err then
      failed(err, "the terminal could not be resized")
    end
  end)
end

return M
