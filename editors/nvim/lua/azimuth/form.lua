--- Forms of the model's questions: what is filled in, its lines, and what a key on a line does.
---
--- Answers stay while the question is open, also where its window is put away.

local blocks = require("azimuth.render.block")
local text = require("azimuth.text")

local M = {}

--- The answer to a question as far as it is filled in.
---@class azimuth.form.Answer
---@field chosen table<integer, true> The options, by their places from 1.
---@field other? string

--- The use of a line of a form: an option of a question, or the user's own words without one.
---@class azimuth.form.Target
---@field question integer
---@field option? integer

--- The answers to each open form, by the ids of their questions.
---@type table<string, azimuth.form.Answer[]>
local filled = {}

--- The answers so far; at the beginning what is recommended.
---@param request azimuth.PermissionRequest
---@return azimuth.form.Answer[]
local function answers_of(request)
  local id = request.permissionId
  if not filled[id] then
    filled[id] = vim.tbl_map(function(question)
      local chosen = {}
      for place, option in ipairs(question.options) do
        chosen[place] = option.recommended or nil
      end
      return { chosen = chosen }
    end, request.form.questions)
  end
  return filled[id]
end

--- Forgets what was filled in of questions that are not open any more.
---@param open table<string, true>
function M.keep(open)
  for id in pairs(filled) do
    filled[id] = open[id] and filled[id]
  end
end

--- The answers as the server takes them; none for a question that has no form.
---@param request azimuth.PermissionRequest
---@return azimuth.FormAnswer[]?
function M.answers(request)
  return request.form and vim.tbl_map(function(answer)
    local places = vim.tbl_keys(answer.chosen)
    table.sort(places)
    local chosen = vim.tbl_map(function(place)
      return place - 1
    end, places)
    -- An answer with neither is an object still, and no list.
    local sent = vim.empty_dict()
    sent.chosen, sent.other = #chosen > 0 and chosen or nil, answer.other
    return sent
  end, answers_of(request))
end

--- Chooses an option, or takes that back.
---@param request azimuth.PermissionRequest
---@param target azimuth.form.Target
function M.toggle(request, target)
  local answer = answers_of(request)[target.question]
  local was = answer.chosen[target.option]
  if not request.form.questions[target.question].multiple then
    answer.chosen, answer.other = {}, nil
  end
  answer.chosen[target.option] = not was and true or nil
end

--- Answers a question in the user's own words; without any, they are taken back.
---@param request azimuth.PermissionRequest
---@param target azimuth.form.Target
---@param words string
function M.write(request, target, words)
  local answer = answers_of(request)[target.question]
  answer.other = vim.trim(words) ~= "" and vim.trim(words) or nil
  if answer.other and not request.form.questions[target.question].multiple then
    answer.chosen = {}
  end
end

--- The user's own words to a question; empty if there are none.
---@param request azimuth.PermissionRequest
---@param target azimuth.form.Target
---@return string
function M.words(request, target)
  return answers_of(request)[target.question].other or ""
end

--- Draws a form, and gives what its lines are for, by their numbers from 1.
---@param into azimuth.Block
---@param request azimuth.PermissionRequest
---@return table<integer, azimuth.form.Target>
function M.draw(into, request)
  local targets = {}
  for number, question in ipairs(request.form.questions) do
    local answer = answers_of(request)[number]
    local marks = question.multiple and { "[x]", "[ ]" } or { "(•)", "( )" }
    local header = text.one_line(question.header)
    if number > 1 then
      blocks.put(into, "")
    end
    blocks.put(into, header .. ": " .. text.one_line(question.question, 700))
    table.insert(into.marks, { row = #into.lines - 1, col = 0, end_col = #header + 1, group = "AzimuthAsk" })
    ---@param is_chosen boolean
    ---@param words string
    ---@param option? integer
    local function line(is_chosen, words, option)
      local mark = is_chosen and marks[1] or marks[2]
      blocks.put(into, ("%s %s"):format(mark, words))
      table.insert(into.marks, { row = #into.lines - 1, col = 0, end_col = #mark, group = is_chosen and "AzimuthKey" or "AzimuthDim" })
      targets[#into.lines] = { question = number, option = option }
    end
    for place, option in ipairs(question.options) do
      line(answer.chosen[place] ~= nil, text.one_line(option.label) .. (option.recommended and " (recommended)" or ""), place)
      if option.description and option.description ~= "" then
        blocks.put(into, "    " .. text.one_line(option.description, 700), "AzimuthDim")
      end
    end
    line(answer.other ~= nil, answer.other and text.one_line(answer.other, 700) or "in your own words …")
  end
  if request.form.timeoutSeconds then
    blocks.put(into, "")
    local words = "Without an answer, what is recommended is assumed %d s after this was asked."
    blocks.put(into, words:format(request.form.timeoutSeconds), "AzimuthDim")
  end
  return targets
end

--- The answers in words, such as `Storage: SQLite; Tests: Unit, “and a bench”`.
---@param request azimuth.PermissionRequest
---@param answers azimuth.FormAnswer[]
---@return string
function M.in_words(request, answers)
  local words = {}
  for number, question in ipairs(request.form.questions) do
    local answer = answers[number] or {}
    local parts = vim.tbl_map(function(place)
      local option = question.options[place + 1]
      return option and option.label or ""
    end, answer.chosen or {})
    if answer.other and vim.trim(answer.other) ~= "" then
      table.insert(parts, "“" .. vim.trim(answer.other) .. "”")
    end
    table.insert(words, question.header .. ": " .. (#parts == 0 and "left open" or table.concat(parts, ", ")))
  end
  return table.concat(words, "; ")
end

return M
