--- A model to test with: a small HTTP server on the loopback that speaks Chat Completions and answers as it is told.

local M = {}

---@class Answer
---@field text? string
---@field thinking? string
---@field calls? { name: string, input: table, json?: string }[] With `json`, the order of the fields is that.
---@field pieces? integer Into how many pieces the text is cut; 4 without it.
---@field call_pieces? integer Into how many pieces the input of each call is cut; 1 without it.
---@field pause? integer Milliseconds between pieces; 5 without it.
---@field hang? boolean Whether the answer stops in the middle and never ends.
---@field status? string What HTTP says instead of an answer, such as `401 Unauthorized`.
---@field headers? string[] More of what HTTP says with a `status`, such as `retry-after: 60`.
---@field held? boolean Whether the answer ends only when `Model:go_on` is called.

---@class Model
---@field url string
---@field asked table[] The bodies of the requests, in order.
---@field answers Answer[]
---@field held? Answer The answer that waits for `go_on`.
local Model = {}
Model.__index = Model

---@param answer Answer
---@return table[] deltas
local function deltas(answer)
  local list = {}
  if answer.thinking then
    table.insert(list, { reasoning_content = answer.thinking })
  end
  local body = answer.text or ""
  local size = math.max(1, math.ceil(#body / (answer.pieces or 4)))
  for at = 1, #body, size do
    table.insert(list, { content = body:sub(at, at + size - 1) })
  end
  for at, call in ipairs(answer.calls or {}) do
    local input = call.json or vim.json.encode(call.input)
    local length = math.ceil(#input / (answer.call_pieces or 1))
    for from = 1, #input, length do
      local piece = { index = at - 1, ["function"] = { arguments = input:sub(from, from + length - 1) } }
      if from == 1 then
        piece.id = ("call_%d_%d"):format(vim.uv.hrtime() % 1e9, at)
        piece.type = "function"
        piece["function"].name = call.name
      end
      table.insert(list, { tool_calls = { piece } })
    end
  end
  return list
end

---@param model Model
---@param socket uv.uv_tcp_t
---@param answer Answer
local function play(model, socket, answer)
  if answer.status then
    local heads = vim.list_extend({ "HTTP/1.1 " .. answer.status, "content-length: 0", "connection: close" }, answer.headers or {})
    socket:write(table.concat(heads, "\r\n") .. "\r\n\r\n")
    return
  end
  local list = deltas(answer)
  local function event(data)
    if not socket:is_closing() then
      socket:write("data: " .. data .. "\n\n")
    end
  end
  socket:write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
  local at = 0
  local timer = assert(vim.uv.new_timer())
  timer:start(1, answer.pause or 5, function()
    at = at + 1
    if socket:is_closing() then
      timer:close()
    elseif list[at] then
      event(vim.json.encode({ id = "x", object = "chat.completion.chunk", model = "m", choices = { { index = 0, delta = list[at] } } }))
    elseif answer.hang then
      timer:stop()
    elseif answer.held then
      model.held = answer
    else
      timer:close()
      local reason = answer.calls and "tool_calls" or "stop"
      event(vim.json.encode({
        id = "x",
        object = "chat.completion.chunk",
        model = "m",
        choices = { { index = 0, delta = vim.empty_dict(), finish_reason = reason } },
      }))
      event(vim.json.encode({
        id = "x",
        object = "chat.completion.chunk",
        model = "m",
        choices = {},
        usage = { prompt_tokens = 1200, completion_tokens = 300, total_tokens = 1500 },
      }))
      event("[DONE]")
      socket:shutdown(function()
        if not socket:is_closing() then
          socket:close()
        end
      end)
    end
  end)
end

--- Starts a model that gives these answers, one a request.
---@param answers Answer[]
---@return Model
function M.start(answers)
  local server = assert(vim.uv.new_tcp())
  assert(server:bind("127.0.0.1", 0))
  local model = setmetatable({ answers = answers, asked = {} }, Model)
  model.url = ("http://127.0.0.1:%d/v1"):format(server:getsockname().port)
  server:listen(16, function()
    local socket = assert(vim.uv.new_tcp())
    server:accept(socket)
    local received = ""
    socket:read_start(function(err, chunk)
      if err or not chunk then
        if not socket:is_closing() then
          socket:close()
        end
        return
      end
      received = received .. chunk
      local head, body = received:match("^(.-)\r\n\r\n(.*)$")
      local length = head and tonumber(head:lower():match("content%-length: (%d+)"))
      if length and #body >= length then
        received = ""
        table.insert(model.asked, vim.json.decode(body:sub(1, length)))
        local answer = table.remove(model.answers, 1) or { text = "There are no more answers in the script." }
        play(model, socket, answer)
      end
    end)
  end)
  return model
end

--- Lets the answer end that is held.
function Model:go_on()
  assert(vim.wait(10000, function()
    return self.held ~= nil
  end, 10), "no answer is held")
  self.held.held, self.held = nil, nil
end

--- A call that replaces a text. Its fields are in the order in which real models give them: only a diff whose file is
--- known is shown while it arrives.
---@param path string
---@param old string
---@param new string
---@return { name: string, input: table, json: string }
function M.replace(path, old, new)
  local json = ('{"path": %s, "old_text": %s, "new_text": %s}'):format(
    vim.json.encode(path),
    vim.json.encode(old),
    vim.json.encode(new)
  )
  return { name = "edit_replace_exact", input = { path = path, old_text = old, new_text = new }, json = json }
end

--- The text of a request's last message of the user.
---@param at? integer Which request; without it, the last.
---@return string
function Model:last_user(at)
  local body = self.asked[at or #self.asked]
  for place = #body.messages, 1, -1 do
    local message = body.messages[place]
    if message.role == "user" then
      return type(message.content) == "string" and message.content or vim.json.encode(message.content)
    end
  end
  return ""
end

return M
