--- The instructions that are not over. Each has a session of its own, which is kept beside the chat's; one of which
--- something waits for the user is found again after a restart of Neovim.

local arriving = require("azimuth.change.arriving")
local client = require("azimuth.client")
local documents = require("azimuth.review.documents")
local hunks = require("azimuth.review.hunks")
local kept = require("azimuth.change.kept")
local protocol = require("azimuth.generated.protocol")
local selections = require("azimuth.change.selection")
local sign = require("azimuth.change.sign")

local M = {}

---@class azimuth.change.Instruction
---@field selection azimuth.change.Selection
---@field session_id? string Nil until the server has answered the first time.
---@field is_sent boolean Whether a request is under way.
---@field turn_id? azimuth.TurnId The turn that runs, from the answer to its end.
---@field before table<azimuth.ProposalId, integer> The revisions of the proposals when the turn began.
---@field sign? integer
---@field drawn integer[] The marks of the edits that arrive.
---@field at integer The time at which it began, in seconds since the Unix epoch.
---@field uri? string The document, once the session is known.
---@field root? string The folder of its project, if it is kept for the next Neovim.

---@type azimuth.change.Instruction[]
local list = {}

--- The instructions, the last one last.
---@return azimuth.change.Instruction[]
function M.list()
  return list
end

--- Adds a new one.
---@param selection azimuth.change.Selection
---@return azimuth.change.Instruction
function M.add(selection)
  local instruction = { selection = selection, is_sent = false, before = {}, drawn = {}, at = os.time() }
  table.insert(list, instruction)
  return instruction
end

---@param instruction azimuth.change.Instruction
---@return azimuth.State?
function M.state_of(instruction)
  return instruction.session_id and client.state(instruction.session_id)
end

---@param instruction azimuth.change.Instruction
---@return azimuth.Proposal[]
function M.open_proposals(instruction)
  return hunks.proposals(M.state_of(instruction))
end

--- True if something of it waits for the user, or may do so soon.
---@param instruction azimuth.change.Instruction
---@return boolean
local function waits(instruction)
  return instruction.is_sent or instruction.turn_id ~= nil or #M.open_proposals(instruction) > 0
end

--- Shows that the turn runs, and what it writes.
---@param instruction azimuth.change.Instruction
function M.show(instruction)
  local state = M.state_of(instruction)
  if instruction.turn_id and state and vim.api.nvim_buf_is_loaded(instruction.selection.bufnr) then
    local shown = require("azimuth.mappings").shown
    local keys = { cancel = shown("cancel"), permission = shown("permission") }
    instruction.sign = sign.show(instruction.selection, state, keys, instruction.sign)
    instruction.drawn = arriving.show(instruction.selection, instruction.session_id, instruction.drawn)
  end
end

--- Takes away what shows that.
---@param instruction azimuth.change.Instruction
function M.hide(instruction)
  local bufnr = instruction.selection.bufnr
  if instruction.sign then
    sign.hide(bufnr, instruction.sign)
    instruction.sign = nil
  end
  arriving.hide(bufnr, instruction.drawn)
  instruction.drawn = {}
end

--- The project that the server works for.
---@return string?
local function root()
  local server = client.lsp_client()
  local folder = server and server.config.root_dir
  return type(folder) == "string" and folder or nil
end

---@param instruction azimuth.change.Instruction
local function write(instruction)
  if instruction.session_id and instruction.root and instruction.uri then
    kept.write(instruction.root, {
      session_id = instruction.session_id,
      uri = instruction.uri,
      kind = instruction.selection.kind,
      spans = selections.spans(instruction.selection),
      at = instruction.at,
    })
  end
end

--- Keeps an instruction, whose session is known by now, for the next Neovim.
---@param instruction azimuth.change.Instruction
function M.keep(instruction)
  instruction.root, instruction.uri = root(), vim.uri_from_bufnr(instruction.selection.bufnr)
  write(instruction)
end

--- Lets an instruction go. Its session is closed unless it is the chat's by now.
---@param instruction azimuth.change.Instruction
function M.drop(instruction)
  if instruction.session_id and instruction.root then
    kept.remove(instruction.root, instruction.session_id)
  end
  M.hide(instruction)
  selections.forget(instruction.selection)
  list = vim.tbl_filter(function(one)
    return one ~= instruction
  end, list)
  if instruction.session_id then
    client.leave(instruction.session_id)
  end
end

--- Lets the instructions go that are over: all is decided, and nothing runs.
---@param is_meant fun(instruction: azimuth.change.Instruction): boolean
function M.drop_decided(is_meant)
  for _, instruction in ipairs(list) do
    if not waits(instruction) and is_meant(instruction) then
      M.drop(instruction)
    end
  end
end

--- Opens the session of an instruction of an earlier Neovim.
---@param folder string The project's.
---@param record azimuth.change.Record
local function restore(folder, record)
  local bufnr = documents.buffer(record.uri) or -1
  ---@type azimuth.change.Instruction
  local instruction = {
    selection = selections.of_spans(bufnr, record.kind, record.spans),
    session_id = record.session_id,
    is_sent = false,
    before = {},
    drawn = {},
    at = record.at,
    uri = record.uri,
    root = folder,
  }
  table.insert(list, instruction)
  client.open_beside(record.session_id, function(err, result)
    if err and err.code ~= protocol.error_codes.notFound then
      -- It is tried again with the next start of the server.
      instruction.root = nil
      if err.code ~= client.connection_lost then
        local problem = "Azimuth: an earlier change cannot be opened again: " .. err.message
        vim.notify(problem, vim.log.levels.WARN)
      end
    end
    local is_change = result ~= nil and result.session.purpose == "instruct"
    instruction.turn_id = is_change and result.runningTurn or nil
    if not is_change or not waits(instruction) then
      M.drop(instruction)
    else
      M.show(instruction)
    end
  end)
end

client.on("connection", function(_, event)
  local folder = event.state == "ready" and root()
  for _, record in ipairs(folder and kept.all(folder) or {}) do
    local is_known = record.session_id == client.session()
      or vim.iter(list):any(function(one)
        return one.session_id == record.session_id
      end)
    if not is_known then
      restore(folder, record)
    end
  end
end)

local group = vim.api.nvim_create_augroup("azimuth.change.instructions", { clear = true })
vim.api.nvim_create_autocmd("BufUnload", {
  group = group,
  callback = function(args)
    for _, one in ipairs(list) do
      if one.selection.bufnr == args.buf and not one.selection.parked then
        M.hide(one)
        selections.park(one.selection)
      end
    end
    M.drop_decided(function(one)
      return one.selection.bufnr == args.buf
    end)
  end,
})
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  group = group,
  callback = function(args)
    for _, one in ipairs(list) do
      if one.selection.parked and one.uri == vim.uri_from_bufnr(args.buf) then
        -- A buffer that was wiped out has another number now.
        one.selection.bufnr = args.buf
        selections.unpark(one.selection)
        M.show(one)
      end
    end
  end,
})
vim.api.nvim_create_autocmd("VimLeavePre", {
  group = group,
  callback = function()
    for _, one in ipairs(list) do
      if waits(one) then
        write(one)
      elseif one.session_id and one.root then
        kept.remove(one.root, one.session_id)
      end
    end
  end,
})

return M
