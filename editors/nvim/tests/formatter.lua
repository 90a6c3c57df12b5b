-- A language server that formats, to test with: nvim --clean --headless -l formatter.lua NAME [CAN ...]
--
-- It takes the blanks from the ends of lines. CAN are what it formats, `document` and `range`; `utf-8`, where its positions are
-- in UTF-8; `late`, where it answers once the document has been changed once more; `failing`, where it answers with an error;
-- `telling`, where it puts a line before the text that says what it was asked for.

local name, can = _G.arg[1], {}
for at = 2, #_G.arg do
  can[_G.arg[at]] = true
end

---@type table<string, string> Documents by their URI.
local documents = {}
---@type table[] Answers that wait for a change.
local waiting = {}

---@return table? message
local function receive()
  local length
  while true do
    local line = io.stdin:read("*l")
    if not line then
      return nil
    end
    length = tonumber(line:match("^[Cc]ontent%-[Ll]ength: (%d+)")) or length
    if line:gsub("\r", "") == "" then
      return vim.json.decode(io.stdin:read(length), { luanil = { object = true } })
    end
  end
end

---@param message table
local function send(message)
  message.jsonrpc = "2.0"
  local body = vim.json.encode(message)
  io.stdout:write(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
  io.stdout:flush()
end

---@param text string
---@param first integer
---@param last integer
---@return table[] edits
local function trimmed(text, first, last)
  local edits = {}
  for row, line in ipairs(vim.split(text, "\n", { plain = true })) do
    local kept = #(line:gsub("%s+$", ""))
    if row - 1 >= first and row - 1 <= last and kept < #line then
      local function place(byte)
        return { line = row - 1, character = can["utf-8"] and byte or vim.fn.strutf16len(line:sub(1, byte)) }
      end
      table.insert(edits, { range = { start = place(kept), ["end"] = place(#line) }, newText = "" })
    end
  end
  return edits
end

local answers = {}

function answers.initialize()
  return {
    serverInfo = { name = name },
    capabilities = {
      textDocumentSync = 1,
      positionEncoding = can["utf-8"] and "utf-8" or "utf-16",
      documentFormattingProvider = can.document == true,
      documentRangeFormattingProvider = can.range == true,
    },
  }
end

answers["textDocument/formatting"] = function(params)
  return trimmed(documents[params.textDocument.uri], 0, math.huge)
end

answers["textDocument/rangeFormatting"] = function(params)
  return trimmed(documents[params.textDocument.uri], params.range.start.line, params.range["end"].line)
end

function answers.shutdown()
  return vim.NIL
end

for message in receive do
  local params = message.params
  if message.method == "textDocument/didOpen" then
    documents[params.textDocument.uri] = params.textDocument.text
  elseif message.method == "textDocument/didChange" then
    documents[params.textDocument.uri] = params.contentChanges[1].text
    for _, answer in ipairs(waiting) do
      send(answer)
    end
    waiting = {}
  elseif message.method == "exit" then
    break
  elseif answers[message.method] then
    local answer = { id = message.id, result = answers[message.method](params) }
    local formats = message.method:find("ormatting") ~= nil
    if formats and can.failing then
      answer.result, answer.error = nil, { code = -32803, message = "the configuration is broken" }
    elseif formats and can.telling then
      local start = { line = 0, character = 0 }
      answer.result = { { range = { start = start, ["end"] = start }, newText = vim.json.encode(params) .. "\n" } }
    end
    if can.late and formats then
      table.insert(waiting, answer)
    else
      send(answer)
    end
  end
end
