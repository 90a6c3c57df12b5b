--- A question about code on its way: whom it goes to, who answered, and what the answers came to together.

local clients = require("azimuth.lang.clients")
local convert = require("azimuth.lang.convert")
local methods = require("azimuth.lang.methods")

local M = {}

--- How many items an answer has at most; more make it `partial`.
local MOST = 500
--- The same for answers about the whole of a document, by the type of the query.
local MOST_OF = { documentSymbols = 2000, diagnostics = 2000 }

---@class azimuth.lang.Question
---@field query azimuth.LangQuery
---@field own integer The id of our client.
---@field began number
---@field deadline number In milliseconds of `clients.now`.
---@field document? azimuth.lang.Document
---@field uri? string The document, as the editor's clients know it.
---@field clients vim.lsp.Client[] Whom the question can go to.
---@field servers vim.lsp.Client[] Whom it goes to.
---@field troubles azimuth.lang.Reply[] Who did not answer, and why not.
---@field lines azimuth.lang.Lines
---@field versions table<string, integer> Of open documents, when it was asked.
---@field version? integer Of its document.
---@field limit integer How many items its answer has at most.
---@field doubts string[] Why what is told may not be all, or may not be so.
local Question = {}
Question.__index = Question

--- A question, with all of its time ahead.
---@param params azimuth.EditorQueryParams
---@param own integer The id of our client.
---@return azimuth.lang.Question
function M.new(params, own)
  local began = clients.now()
  return setmetatable({
    query = params.query,
    own = own,
    began = began,
    deadline = began + params.timeoutMs,
    clients = {},
    servers = {},
    troubles = {},
    lines = convert.lines(),
    versions = {},
    limit = MOST_OF[params.query.type] or MOST,
    doubts = {},
  }, Question)
end

-- The result --------------------------------------------------------------------------------------------------------

---@param status azimuth.LangStatus
---@param message? string
---@param servers? vim.lsp.Client[]
---@return azimuth.LangResult
function M.without_answer(status, message, servers)
  return {
    status = status,
    message = message,
    servers = servers and #servers > 0 and vim.tbl_map(clients.server, servers) or nil,
    answer = { type = "nothing" },
  }
end

---@param question azimuth.lang.Question
---@return string[] lines Who did not answer, and why not.
local function troubles(question)
  return vim.tbl_map(function(trouble)
    return ("%s: %s"):format(trouble.client.name, trouble.message or trouble.problem)
  end, question.troubles)
end

---@param question azimuth.lang.Question
---@return string[] lines Who is still busy, and with what.
local function busy(question)
  local lines = {}
  for _, client in ipairs(question.servers) do
    local title = clients.busy_with(client)
    if title then
      table.insert(lines, ("%s is still busy: %s"):format(client.name, title))
    end
  end
  return lines
end

--- The result, out of an answer and what became of asking for it.
---@param answer azimuth.LangAnswer
---@return azimuth.LangResult
function Question:result(answer)
  local words = troubles(self)
  local failed = #words
  if #self.servers == 0 then
    return M.without_answer("unsupported", "The language servers that run cannot answer this.", self.clients)
  end
  local status = "ready"
  if failed == #self.servers then
    status, answer = "timedOut", { type = "nothing" }
    for _, trouble in ipairs(self.troubles) do
      status = status ~= "failed" and trouble.problem or status
    end
  else
    local working = busy(self)
    vim.list_extend(words, working)
    vim.list_extend(words, self.doubts)
    if failed > 0 then
      status = "partial"
    elseif #working > 0 then
      status = "indexing"
    elseif #self.doubts > 0 then
      status = "partial"
    end
  end
  return {
    status = status,
    message = #words > 0 and table.concat(words, "\n") or nil,
    servers = vim.tbl_map(clients.server, self.servers),
    version = self.version,
    answer = answer,
  }
end

-- Asking ------------------------------------------------------------------------------------------------------------

--- Notes that a client did not answer, once.
---@param trouble azimuth.lang.Reply
function Question:note(trouble)
  for _, noted in ipairs(self.troubles) do
    if noted.client.id == trouble.client.id then
      return
    end
  end
  table.insert(self.troubles, trouble)
end

--- Notes why what is told may not be all, or may not be so, once.
---@param why string
function Question:doubt(why)
  if not vim.list_contains(self.doubts, why) then
    table.insert(self.doubts, why)
  end
end

--- Notes that there is more than is told.
function Question:cut()
  self:doubt("There is more than this.")
end

---@param client vim.lsp.Client
---@return azimuth.lang.Reader
function Question:reader(client)
  return convert.reader(client, self.lines, self.versions, self.limit)
end

--- Reads what a client said. What is not LSP is the client's failure, and not ours.
---@generic T
---@param reply azimuth.lang.Reply
---@param read fun(reader: azimuth.lang.Reader): T
---@return T?
function Question:understood(reply, read)
  if reply.problem then
    self:note(reply)
    return nil
  end
  local reader = self:reader(reply.client)
  local ok, answer = pcall(read, reader)
  if not ok then
    local why = tostring(answer):gsub("^.-:%d+: ", "")
    self:note({ client = reply.client, problem = "failed", message = "its answer cannot be understood: " .. why })
    return nil
  end
  if reader.is_cut then
    self:cut()
  end
  return answer
end

--- Returns a client's answer, if that is a list whose items go back to it unchanged.
---@param reply azimuth.lang.Reply
---@return table[]
function Question:listed(reply)
  return self:understood(reply, function(with)
    return vim.tbl_filter(function(item)
      return type(item) == "table"
    end, with:first(reply.result))
  end) or {}
end

--- True if a client can be asked, as far as it says.
---@param client vim.lsp.Client
---@return boolean
function Question:can_ask(client)
  local method = methods[self.query.type]
  return not method or clients.supports(client, method, self.document and self.document.bufnr)
end

--- The clients that can be asked. They are those who answer, from now on.
---@return vim.lsp.Client[]
function Question:able()
  local found = vim.tbl_filter(function(client)
    return self:can_ask(client)
  end, self.clients)
  vim.list_extend(self.servers, found)
  return found
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@return azimuth.lang.Request
function Question:request(client, method, params)
  return { client = client, method = method, params = params, bufnr = self.document and self.document.bufnr }
end

--- The place that is asked about, as a client counts.
---@param client vim.lsp.Client
---@param more? table
---@return table
function Question:at_place(client, more)
  return vim.tbl_extend("error", {
    textDocument = { uri = self.uri },
    position = self:reader(client):theirs(self.uri, self.query.position),
  }, more or {})
end

--- Asks all clients that can answer, at once.
---@param params fun(client: vim.lsp.Client): table
---@return azimuth.lang.Reply[]
function Question:ask_all(params)
  local requests = vim.tbl_map(function(client)
    return self:request(client, methods[self.query.type], params(client))
  end, self:able())
  return clients.ask(requests, self.deadline)
end

--- Asks the clients that can answer, one after the other, until one has something to say. What two of them would change
--- cannot both be done.
---@param params fun(client: vim.lsp.Client): table
---@param read fun(reader: azimuth.lang.Reader, result: any): azimuth.LangChange[]
---@return azimuth.LangAnswer.Edit
function Question:ask_in_turn(params, read)
  for _, client in ipairs(self:able()) do
    local request = self:request(client, methods[self.query.type], params(client))
    local reply = clients.ask({ request }, self.deadline)[1]
    local changes = self:understood(reply, function(with)
      return reply.result ~= nil and read(with, reply.result) or false
    end)
    if changes then
      self.servers, self.troubles = { client }, {}
      return { type = "edit", changes = changes }
    end
  end
  return { type = "edit", changes = {} }
end

--- Puts items of several clients together, each once, as many as an answer may have.
---@param identity fun(item: table): string
---@return { items: table[], add: fun(more: table[]?) }
function Question:collection(identity)
  local items, seen = {}, {}
  local function add(more)
    for _, item in ipairs(more or {}) do
      local key = identity(item)
      if not seen[key] then
        if #items >= self.limit then
          self:cut()
          return
        end
        seen[key] = true
        table.insert(items, item)
      end
    end
  end
  return { items = items, add = add }
end

--- Returns the answers of clients, put together.
---@param replies azimuth.lang.Reply[]
---@param identity fun(item: table): string
---@param read fun(reader: azimuth.lang.Reader, reply: azimuth.lang.Reply): table[]
---@return table[] items
function Question:gathered(replies, identity, read)
  local found = self:collection(identity)
  for _, reply in ipairs(replies) do
    found.add(self:understood(reply, function(with)
      return read(with, reply)
    end))
  end
  return found.items
end

--- Returns a key that tells one location from another.
---@param uri string
---@param range azimuth.Range
---@return string
function M.place_key(uri, range)
  return ("%s %d %d %d %d"):format(uri, range.start.line, range.start.character, range["end"].line, range["end"].character)
end

--- Returns a key that tells one symbol from another.
---@param symbol azimuth.LangSymbol
---@return string
function M.symbol_key(symbol)
  local start = symbol.location.range.start
  return ("%s %s %d %d"):format(symbol.name, symbol.location.uri, start.line, start.character)
end

return M
