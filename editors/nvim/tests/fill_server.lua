--- A model of the user's machine: a small HTTP server on the loopback that answers as a test says. It fills in text as
--- llama.cpp's server does, `POST /infill`, and it says the next edit as one of Sweep's models does,
--- `POST /v1/completions`. Both answer with events.

local M = {}

---@class FillServer
---@field url string
---@field asked { prefix: string, suffix: string }[] The requests, in order.
---@field closed integer How many connections were closed before their answer ended.
---@field answer fun(prefix: string, suffix: string): string?, integer? The text, and the milliseconds before it; nil for a failure.
---@field edits { path: string, window: string }[] The requests for edits, in order.
---@field edit? fun(window: string, path: string): string? The lines around the cursor as they will be; nil if they stay.
local FillServer = {}
FillServer.__index = FillServer

local PROPS = vim.json.encode({ default_generation_settings = { n_ctx = 8192 }, model_path = "test.gguf" })

---@param socket uv.uv_tcp_t
---@param text string
local function write(socket, text)
  if not socket:is_closing() then
    socket:write(text)
  end
end

---@param socket uv.uv_tcp_t
---@param type string
---@param status string
---@param body string
local function reply(socket, status, type, body)
  write(socket, ("HTTP/1.1 %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s"):format(status, type, #body, body))
end

---@param server FillServer
---@param socket uv.uv_tcp_t
---@param state { is_busy: boolean }
---@param body table
local function fill(server, socket, state, body)
  local asked = { prefix = body.input_prefix .. (body.prompt or ""), suffix = body.input_suffix }
  table.insert(server.asked, asked)
  local text, pause = server.answer(asked.prefix, asked.suffix)
  if not text then
    reply(socket, "500 Internal Server Error", "text/plain", "no")
    return
  end
  state.is_busy = true
  local timer = assert(vim.uv.new_timer())
  timer:start(pause or 0, 0, function()
    timer:close()
    state.is_busy = false
    local events = { { content = text, stop = false }, { content = "", stop = true, stop_type = "eos" } }
    local lines = vim.tbl_map(function(event)
      return "data: " .. vim.json.encode(event) .. "\n\n"
    end, events)
    reply(socket, "200 OK", "text/event-stream", table.concat(lines))
  end)
end

--- Says the next edit in Sweep's dialect: the prompt ends with the lines around the cursor as they are, and with those
--- that will be, up to the cursor's line.
---@param server FillServer
---@param socket uv.uv_tcp_t
---@param body table
local function say_edit(server, socket, body)
  local path, _, window, begun =
    body.prompt:match("<|file_sep|>current/([^\n]-):(%d+:%d+)\n(.*)<|file_sep|>updated/[^\n]*\n(.-)$")
  window = window:gsub("<|cursor|>", "")
  table.insert(server.edits, { path = path, window = window })
  local new = server.edit and server.edit(window, path) or window
  local text = vim.startswith(new, begun) and new:sub(#begun + 1) or ""
  local events = { { choices = { { index = 0, text = text } } }, { choices = { { index = 0, text = "", finish_reason = "stop" } } } }
  local lines = vim.tbl_map(function(event)
    return "data: " .. vim.json.encode(event) .. "\n\n"
  end, events)
  reply(socket, "200 OK", "text/event-stream", table.concat(lines) .. "data: [DONE]\n\n")
end

---@param server FillServer
---@param socket uv.uv_tcp_t
local function serve(server, socket)
  local received, state = "", { is_busy = false }
  socket:read_start(function(err, chunk)
    if err or not chunk then
      server.closed = server.closed + (state.is_busy and 1 or 0)
      if not socket:is_closing() then
        socket:close()
      end
      return
    end
    received = received .. chunk
    while true do
      local head, rest = received:match("^(.-)\r\n\r\n(.*)$")
      local length = head and tonumber(head:lower():match("content%-length: (%d+)") or "0")
      if not head or #rest < length then
        return
      end
      received = rest:sub(length + 1)
      if head:match("^POST %S*/completions ") then
        say_edit(server, socket, vim.json.decode(rest:sub(1, length)))
      elseif vim.startswith(head, "POST") then
        fill(server, socket, state, vim.json.decode(rest:sub(1, length)))
      else
        reply(socket, "200 OK", "application/json", PROPS)
      end
    end
  end)
end

--- Starts a server that fills in by a function of the text before and after the cursor, and edits by one of the lines
--- around it.
---@param answer fun(prefix: string, suffix: string): string?, integer?
---@param edit? fun(window: string, path: string): string?
---@return FillServer
function M.start(answer, edit)
  local listener = assert(vim.uv.new_tcp())
  assert(listener:bind("127.0.0.1", 0))
  local server = setmetatable({ asked = {}, edits = {}, closed = 0, answer = answer, edit = edit }, FillServer)
  server.url = ("http://127.0.0.1:%d"):format(listener:getsockname().port)
  listener:listen(16, function()
    local socket = assert(vim.uv.new_tcp())
    listener:accept(socket)
    serve(server, socket)
  end)
  return server
end

--- The lines of `config.toml` that make it the model for suggestions.
---@return string
function FillServer:configuration()
  return ('completion_model = "llama.cpp/"\n[providers."llama.cpp"]\nbase_url = "%s"\n'):format(self.url)
end

--- The lines of `config.toml` that make it the model for edits. They come before its tables.
---@return string
function FillServer:edit_configuration()
  return table.concat({
    'next_edit_model = "near/sweep-next-edit-1.5B"',
    ('providers.near.base_url = "%s"'):format(self.url),
    'providers.near.key = "k"',
    'providers.near.wire = "openai-chat"',
    "",
  }, "\n")
end

return M
