--- Answers that tell where something is and what it is: places, hovers, symbols, and who calls or extends whom.

local clients = require("azimuth.lang.clients")
local convert = require("azimuth.lang.convert")
local questions = require("azimuth.lang.question")

local M = {}

---@param method string
---@param more? table
---@return fun(question: azimuth.lang.Question): azimuth.LangAnswer
local function locations(method, more)
  return function(question)
    local found = question:collection(questions.MAX_ITEMS, function(location)
      return questions.place_key(location.uri, location.range)
    end)
    local replies = question:ask_all(method, function(client)
      return question:at_place(client, more)
    end)
    for _, reply in ipairs(replies) do
      found.add(question:understood(reply, function(with)
        return with:locations(reply.result)
      end))
    end
    return { type = "locations", locations = found.items }
  end
end

M.definition = locations("textDocument/definition")
M.typeDefinition = locations("textDocument/typeDefinition")
M.implementation = locations("textDocument/implementation")
M.references = locations("textDocument/references", { context = { includeDeclaration = true } })

function M.hover(question)
  local texts = {}
  local replies = question:ask_all("textDocument/hover", function(client)
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
  local found = question:collection(questions.MAX_MANY, questions.symbol_key)
  local replies = question:ask_all("textDocument/documentSymbol", function()
    return { textDocument = { uri = question.uri } }
  end)
  for _, reply in ipairs(replies) do
    found.add(question:understood(reply, function(with)
      return with:document_symbols(question.uri, reply.result, questions.MAX_MANY + 1)
    end))
  end
  return { type = "symbols", symbols = found.items }
end

function M.workspaceSymbols(question)
  local found = question:collection(questions.MAX_ITEMS, questions.symbol_key)
  local replies = question:ask_all("workspace/symbol", function()
    return { query = question.query.query }
  end)
  for _, reply in ipairs(replies) do
    found.add(question:understood(reply, function(with)
      return with:workspace_symbols(vim.list_slice(reply.result or {}, 1, questions.MAX_ITEMS + 1))
    end))
  end
  return { type = "symbols", symbols = found.items }
end

--- Asks for what stands at the place, and then about it. An item goes back to the client that it came from.
---@param question azimuth.lang.Question
---@param prepare string
---@param method string
---@return { reply: azimuth.lang.Reply, item: table }[]
local function hierarchy(question, prepare, method)
  local prepared = question:ask_all(prepare, function(client)
    return question:at_place(client)
  end)
  local requests, items = {}, {}
  for _, reply in ipairs(prepared) do
    for _, item in ipairs(question:listed(reply)) do
      table.insert(requests, question:request(reply.client, method, { item = item }))
      table.insert(items, item)
    end
  end
  local found = {}
  for at, reply in ipairs(clients.ask(requests, question.deadline)) do
    found[at] = { reply = reply, item = items[at] }
  end
  return found
end

---@param method string
---@param read fun(reader: azimuth.lang.Reader, item: table, result: any): azimuth.LangCall[]
---@return fun(question: azimuth.lang.Question): azimuth.LangAnswer
local function calls(method, read)
  return function(question)
    local found = question:collection(questions.MAX_ITEMS, function(call)
      return questions.symbol_key(call.symbol)
    end)
    for _, answer in ipairs(hierarchy(question, "textDocument/prepareCallHierarchy", method)) do
      found.add(question:understood(answer.reply, function(with)
        return read(with, answer.item, answer.reply.result)
      end))
    end
    return { type = "calls", calls = found.items }
  end
end

M.incomingCalls = calls("callHierarchy/incomingCalls", function(with, _, incoming)
  return with:incoming(incoming)
end)
M.outgoingCalls = calls("callHierarchy/outgoingCalls", function(with, item, outgoing)
  return with:outgoing(item, outgoing)
end)

---@param method string
---@return fun(question: azimuth.lang.Question): azimuth.LangAnswer
local function types(method)
  return function(question)
    local found = question:collection(questions.MAX_ITEMS, questions.symbol_key)
    for _, answer in ipairs(hierarchy(question, "textDocument/prepareTypeHierarchy", method)) do
      found.add(question:understood(answer.reply, function(with)
        return vim.tbl_map(function(item)
          return with:item(item)
        end, convert.list(answer.reply.result))
      end))
    end
    return { type = "symbols", symbols = found.items }
  end
end

M.supertypes = types("typeHierarchy/supertypes")
M.subtypes = types("typeHierarchy/subtypes")

return M
