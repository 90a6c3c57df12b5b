--- A session's shell as a terminal buffer: its bytes come in by offset, what is typed goes out.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")
local filter = require("azimuth.terminal.filter")

local M = {}

--- Lines that can be scrolled back.
local SCROLLBACK = 10000

---@class azimuth.terminal.View
---@field session_id string
---@field terminal_id? string
---@field bufnr integer
---@field channel integer
---@field offset integer Of the next byte to come.
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

--- The open view of a session.
---@param session_id string
---@return azimuth.terminal.View?
function M.get(session_id)
  return views[session_id]
end

---@return azimuth.terminal.View[]
function M.all()
  return vim.tbl_values(views)
end

--- The view of a session, made if there is none. It is not yet shown anywhere.
---@param session_id string
---@return azimuth.terminal.View
function M.make(session_id)
  if views[session_id] then
    return views[session_id]
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  local view = setmetatable({
    session_id = session_id,
    bufnr = bufnr,
    offset = 0,
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
  vim.api.nvim_buf_set_name(bufnr, "azimuth://terminal/" .. session_id)
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].scrollback = SCROLLBACK
  vim.bo[bufnr].filetype = "azimuth-terminal"
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    callback = function()
      views[session_id] = nil
    end,
  })
  views[session_id] = view
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
function View:follow()
  local size = self:window_size()
  local params = { sessionId = self.session_id, since = self.offset, size = size }
  client.request(protocol.requests.terminal_open, params, function(err, result)
    if err then
      failed(err, "the terminal could not be opened")
      return
    end
    self.size = size
    if self.terminal_id and self.terminal_id ~= result.terminalId then
      -- Another terminal has other offsets.
      self.terminal_id = result.terminalId
      self.offset = 0
      self:show("\27c")
      self:follow()
      return
    end
    self.terminal_id = result.terminalId
    self.alive = result.alive
    if result.since > self.offset then
      self:show(("\27[0m\r\n[%d bytes of older output are no longer kept]\r\n"):format(result.since - self.offset))
      self.offset = result.since
    end
  end)
end

---@param bytes string
function View:show(bytes)
  if bytes ~= "" and vim.api.nvim_buf_is_valid(self.bufnr) then
    vim.api.nvim_chan_send(self.channel, bytes)
  end
end

--- Whether the user's keys go into this terminal.
---@return boolean
function View:at_keyboard()
  return vim.api.nvim_get_current_buf() == self.bufnr and vim.api.nvim_get_mode().mode == "t"
end

--- Takes output in. Bytes that were seen already are passed over, so that following twice does no harm.
---@param params azimuth.TerminalOutputParams
function View:output(params)
  if params.terminalId ~= self.terminal_id then
    return
  end
  local bytes = vim.base64.decode(params.data)
  local seen = self.offset - params.offset
  if seen >= #bytes then
    return
  elseif seen > 0 then
    bytes = bytes:sub(seen + 1)
  end
  self.offset = params.offset + math.max(seen, 0) + #bytes
  self:show(self.filter:feed(bytes, self:at_keyboard()))
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

--- Ends what runs in it.
function View:kill()
  if not self.terminal_id then
    return
  end
  client.request(protocol.requests.terminal_kill, { sessionId = self.session_id, terminalId = self.terminal_id }, function(err)
    if err then
      failed(err, "what runs in the terminal could not be ended")
    end
  end)
end

return M
