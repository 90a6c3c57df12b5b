--- Answers that tell where something is and what it is: places, hovers, symbols, and who calls or extends whom.

local clients = require("azimuth.lang.clients")
local convert = require("azimuth.lang.convert")
local questions = require("azimuth.lang.question")

local M = {}

---@param location azimuth.LangLocation
---@return string
local function location_key(location)
  return questions.place_key(location.uri, location.range)
end

---@param more? table
---@return azimuth.lang.Answerer
local function locations(more)
  return function(question)
    local replies = question:ask_all(function(client)
      return question:at_place(client, more)
    end)
    local found = question:gathered(replies, location_key, function(with, reply)
      return with:locations(reply.result)
    end)
    return { type = "locations", locations = found }
  end
end

M.definition = locations()
M.typeDefinition = locations()
M.implementation = locations()
M.references = locations({ context = { includeDeclaration = true } })

function M.hover(question)
  local texts = {}
  local replies = question:ask_all(function(client)
    return question:at_place(client)
  end)
  for _, reply in ipairs(replies) do
    local text = question:understood(reply, function()
      return convert.hover(reply.result)
    end)
    if text and text ~= "" and not vim.list_contains(texts, text) then
      table.insert(texts, text)
    end
  end
  return { type = "text", text = table.concat(texts, "\n\n---\n\n") }
end

function M.documentSymbols(question)
  local replies = question:ask_all(function()
    return { textDocument = { uri = question.uri } }
  end)
  local found = question:gathered(replies, questions.symbol_key, function(with, reply)
    return with:document_symbols(question.uri, reply.result)
  end)
  return { type = "symbols", symbols = found }
end

function M.workspaceSymbols(question)
  local replies = question:ask_all(function()
    return { query = question.query.query }
  end)
  local found = question:gathered(replies, questions.symbol_key, function(with, reply)
    return with:workspace_symbols(reply.result)
  end)
  return { type = "symbols", symbols = found }
end

--- Asks for what stands at the place, and then about it. An item goes back to the client that it came from.
---@param question azimuth.lang.Question
---@param method string
---@return azimuth.lang.Reply[]
local function hierarchy(question, method)
  local prepared = question:ask_all(function(client)
    return question:at_place(client)
  end)
  local requests = {}
  for _, reply in ipairs(prepared) do
    for _, item in ipairs(question:listed(reply)) do
      table.insert(requests, question:request(reply.client, method, { item = item }))
    end
  end
  return clients.ask(requests, question.deadline)
end

---@param call azimuth.LangCall
---@return string
local function call_key(call)
  return questions.symbol_key(call.symbol)
end

---@param method string
---@param read fun(reader: azimuth.lang.Reader, reply: azimuth.lang.Reply): azimuth.LangCall[]
---@return azimuth.lang.Answerer
local function calls(method, read)
  return function(question)
    local replies = hierarchy(question, method)
    return { type = "calls", calls = question:gathered(replies, call_key, read) }
  end
end

M.incomingCalls = calls("callHierarchy/incomingCalls", function(with, reply)
  return with:incoming(reply.result)
end)
M.outgoingCalls = calls("callHierarchy/outgoingCalls", function(with, reply)
  return with:outgoing(reply.request.params.item, reply.result)
end)

---@param method string
---@return azimuth.lang.Answerer
local function types(method)
  return function(question)
    local replies = hierarchy(question, method)
    local found = question:gathered(replies, questions.symbol_key, function(with, reply)
      return with:items(reply.result)
    end)
    return { type = "symbols", symbols = found }
  end
end

M.supertypes = types("typeHierarchy/supertypes")
M.subtypes = types("typeHierarchy/subtypes")

return M
