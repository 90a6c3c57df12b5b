--- How an empty chat looks: what to try, sessions to go on with, and how the workspace is set up. Pure.

local blocks = require("azimuth.render.block")
local text = require("azimuth.text")

local M = {}

--- A key for each line that does something; there are no more digits.
local MOST = 9

--- The action of a key or its line: begin with a prompt, or go on with a session.
---@class azimuth.Choice
---@field prompt? azimuth.PromptBlock[]
---@field session_id? azimuth.SessionId

---@class azimuth.Start
---@field setup azimuth.SetupFact[]
---@field beginnings azimuth.Beginning[]
---@field sessions azimuth.SessionInfo[]

--- The commands with which the user can remedy what is missing.
---@type table<azimuth.SetupAbout, string>
local remedies = {
  model = ":Azimuth accounts, :Azimuth key, or :Azimuth models",
  trust = ":Azimuth trust yes",
  servers = ":Azimuth servers",
}

--- How a fact is marked.
---@type table<azimuth.SetupState, { [1]: string, [2]: string }>
local signs = { inOrder = { "✓", "AzimuthDone" }, lacks = { "!", "AzimuthWarning" }, neutral = { "·", "AzimuthDim" } }

---@param into azimuth.Block
---@param line string
---@param sign string
---@param group string
local function put_signed(into, line, sign, group)
  blocks.put(into, sign .. " " .. line)
  table.insert(into.marks, { row = #into.lines - 1, col = 0, end_col = #sign, group = group })
end

---@param into azimuth.Block
---@param words string What is dim at the last line's end.
local function dim_end(into, words)
  local row = #into.lines - 1
  local whole = into.lines[row + 1] .. words
  table.insert(into.marks, { row = row, col = #whole - #words, group = "AzimuthDim" })
  into.lines[row + 1] = whole
end

--- The block, what each key does, and what the line in each row does, from 0.
---@param start azimuth.Start
---@return azimuth.Block
---@return table<string, azimuth.Choice> keys
---@return table<integer, azimuth.Choice> rows
function M.draw(start)
  local into = blocks.new()
  ---@type table<string, azimuth.Choice>, table<integer, azimuth.Choice>
  local keys, rows = {}, {}
  local count = 0
  local function put_choice(line, choice)
    count = count + 1
    local key = tostring(count)
    put_signed(into, line, ("[%s]"):format(key), "AzimuthKey")
    keys[key], rows[#into.lines - 1] = choice, choice
  end
  if #start.beginnings > 0 then
    blocks.header(into, "Try", "AzimuthUser")
    for _, beginning in ipairs(start.beginnings) do
      put_choice(text.one_line(beginning.title), { prompt = beginning.prompt })
    end
    blocks.put(into, "")
  end
  local sessions = vim.list_slice(start.sessions, 1, MOST - count)
  if #sessions > 0 then
    blocks.header(into, "Go on with", "AzimuthUser")
    for _, session in ipairs(sessions) do
      put_choice(text.one_line(session.title, 80), { session_id = session.sessionId })
      dim_end(into, "  " .. text.when(session.updatedAt))
    end
    blocks.put(into, "")
  end
  if #start.setup > 0 then
    blocks.header(into, "Set up", "AzimuthUser")
    for _, fact in ipairs(start.setup) do
      local sign = signs[fact.state] or signs.neutral
      put_signed(into, text.one_line(fact.text, 300), sign[1], sign[2])
      if fact.state == "lacks" and remedies[fact.about] then
        dim_end(into, "  " .. remedies[fact.about])
      end
    end
    blocks.put(into, "")
  end
  if count > 0 then
    blocks.put(into, "Type a number to choose a line, here or in the empty prompt after <Esc>.", "AzimuthDim")
  end
  return into, keys, rows
end

return M
